# SPDX-License-Identifier: Apache-2.0
"""What a test expects in the log names its lines: the harness refuses what would forgive any line."""

import pytest

from expectation import expectation


NO_NUMBER = "names no line by its number"


@pytest.mark.parametrize("pattern, fault", [
    pytest.param("PAY", NO_NUMBER, id="every line of the module"),
    pytest.param(r"PAY\d+", NO_NUMBER, id="every number"),
    pytest.param("AH0", NO_NUMBER, id="most lines of httpd"),
    pytest.param("", NO_NUMBER, id="every line"),
    pytest.param("PAY00100|", NO_NUMBER, id="an empty alternative"),
    pytest.param("PAY00100|PAY", NO_NUMBER, id="one alternative of two"),
    pytest.param(r"\[payments:warn\]", NO_NUMBER, id="a level"),
    pytest.param("PAY0026[0-9]", NO_NUMBER, id="ten numbers"),
    pytest.param("PAY0026", NO_NUMBER, id="a number cut short"),
    pytest.param("PAY00(203|400)", NO_NUMBER, id="numbers in parts"),
    pytest.param("acquirer .* refuses the key", NO_NUMBER, id="words"),
    pytest.param("PAY00100|unable to include", NO_NUMBER, id="words beside a number"),
    pytest.param(r"\[payments:warn\].*later", NO_NUMBER, id="a level and words"),
    pytest.param("PAY00(544|330): (an export|a refund list) was cut: ", NO_NUMBER, id="numbers in parts and words"),
    pytest.param("(PAY00100|PAY)", "would forgive PAY99999", id="one alternative of two, in parentheses"),
    pytest.param(r"PAY00100|\[core:warn\]", "would forgive AH99999", id="every line of another module"),
    pytest.param("PAY00100(.*is empty)?", None, id="a number in full"),
    pytest.param("PAY00203|PAY00400|AH00051", None, id="numbers in full"),
    pytest.param("(PAY00303|PAY00307).* lmdb:/there/(link|store)", None, id="numbers in full, and words"),
    pytest.param(r"\[include:error\].* unable to include|AH01374", None, id="words of a module that gives no number"),
])
def test_lines_are_named(pattern, fault):
    if fault is None:
        assert expectation(pattern).pattern == pattern
        return
    with pytest.raises(ValueError, match=fault):
        expectation(pattern)


def test_a_server_takes_no_other(server):
    httpd = server(start=False)
    for always in False, True:
        with pytest.raises(ValueError, match=NO_NUMBER):
            httpd.expect_log("PAY|AH00051", always=always)
