# SPDX-License-Identifier: Apache-2.0
"""What a test expects in the log names its lines: the harness refuses what would forgive any line."""

import pytest

from expectation import expectation


@pytest.mark.parametrize("pattern, forgiven", [
    pytest.param("PAY", "PAY99999", id="every line of the module"),
    pytest.param(r"PAY\d+", "PAY99999", id="every number"),
    pytest.param("AH", "AH99999", id="every line of httpd"),
    pytest.param("AH0", "AH00000", id="most lines of httpd"),
    pytest.param("", "PAY99999", id="every line"),
    pytest.param("PAY00100|", "PAY99999", id="an empty alternative"),
    pytest.param("PAY00100|PAY", "PAY99999", id="one alternative of two"),
    pytest.param(r"\[payments:warn\]", "PAY99999", id="a level"),
    pytest.param("PAY0026[0-9]", "PAY00260", id="ten numbers"),
    pytest.param("PAY0026", "PAY00260", id="a number cut short"),
    pytest.param("PAY00(203|400)", "PAY00203", id="numbers in parts"),
    pytest.param("PAY00100(.*is empty)?", None, id="a number in full"),
    pytest.param("PAY00203|PAY00400|AH00051", None, id="numbers in full"),
    pytest.param("acquirer .* refuses the key|unable to include", None, id="words"),
    pytest.param(r"\[payments:warn\].*later", None, id="a level and words"),
    pytest.param("PAY00(544|330): (an export|a refund list) was cut: ", None, id="numbers in parts and words"),
])
def test_lines_are_named(pattern, forgiven):
    if forgiven is None:
        assert expectation(pattern).pattern == pattern
        return
    with pytest.raises(ValueError, match=f"would forgive {forgiven}, whatever it says"):
        expectation(pattern)


def test_a_server_takes_no_other(server):
    httpd = server(start=False)
    for always in False, True:
        with pytest.raises(ValueError, match="would forgive PAY99999"):
            httpd.expect_log("PAY|AH00051", always=always)
