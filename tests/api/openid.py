# SPDX-License-Identifier: Apache-2.0
"""An OpenID Connect provider (Core 1.0, code flow) at which the chosen user signs in at once, and its clients."""

import base64
import hashlib
import http.cookiejar
import http.server
import json
import pathlib
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

CLIENT, SECRET = "payments", "of the client"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    """`user` signs in next. A code is valid once, for the redirect_uri for which it was issued."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mod_payments-op-"))
        self.user, self.codes = None, {}
        self.openssl("genrsa", "-out", "key.pem", "2048")
        modulus = self.openssl("rsa", "-in", "key.pem", "-noout", "-modulus").decode().strip().partition("=")[2]
        self.jwks = {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "e": "AQAB",
                               "n": b64(bytes.fromhex(modulus))}]}
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.get(self, urllib.parse.urlsplit(self.path))

            def do_POST(self):
                text = self.rfile.read(int(self.headers["content-length"])).decode()
                provider.post(self, dict(urllib.parse.parse_qsl(text)))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def openssl(self, *args, **options):
        return subprocess.run(["openssl", *args], cwd=self.folder, capture_output=True, check=True, **options).stdout

    def settings(self):
        """The configuration of a site; its own path for the answers is below /signed-in."""
        return (f"OIDCProviderMetadataURL {self.issuer}/.well-known/openid-configuration\n"
                f"OIDCClientID {CLIENT}\nOIDCClientSecret \"{SECRET}\"\nOIDCCryptoPassphrase passphrase\n"
                "OIDCRedirectURI /signed-in/answer\nOIDCRemoteUserClaim preferred_username\n"
                '<Location "/signed-in">\nAuthType openid-connect\nRequire valid-user\n</Location>\n')

    def get(self, handler, url):
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/.well-known/openid-configuration":
            at = {name: f"{self.issuer}/{path}" for name, path in (
                ("authorization_endpoint", "authorize"), ("token_endpoint", "token"), ("jwks_uri", "jwks"))}
            answer(handler, {"issuer": self.issuer, **at, "response_types_supported": ["code"],
                             "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
                             "token_endpoint_auth_methods_supported": ["client_secret_post"]})
        elif url.path == "/jwks":
            answer(handler, self.jwks)
        elif url.path == "/authorize" and query["client_id"] == CLIENT and query["response_type"] == "code":
            code = secrets.token_hex(8)
            self.codes[code] = (self.user, query.get("nonce"), query["redirect_uri"])
            back = urllib.parse.urlencode({"code": code, "state": query["state"]})
            handler.send_response(302)
            handler.send_header("Location", f"{query['redirect_uri']}?{back}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            handler.send_error(404)

    def post(self, handler, form):
        user, nonce, redirect_uri = self.codes.pop(form.get("code"), (None, None, None))
        if not user or (form.get("client_secret"), form.get("redirect_uri")) != (SECRET, redirect_uri):
            answer(handler, {"error": "invalid_grant"}, 400)
            return
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": hashlib.sha256(user.encode()).hexdigest(), "iat": now,
                  "exp": now + 300, "preferred_username": user, **({"nonce": nonce} if nonce else {})}
        answer(handler, {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 300,
                         "id_token": self.signed(claims)})

    def signed(self, claims):
        parts = ({"alg": "RS256", "typ": "JWT", "kid": "1"}, claims)
        text = ".".join(b64(json.dumps(part).encode()) for part in parts)
        return f"{text}.{b64(self.openssl('dgst', '-sha256', '-sign', 'key.pem', input=text.encode()))}"

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        shutil.rmtree(self.folder)


def answer(handler, value, status=200):
    body = json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def sign_in(url):
    """Opens a page like a browser, over all redirects; returns the last answer and the browser's header Cookie."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))
    with opener.open(urllib.request.Request(url, headers={"Accept": "text/html"})) as page:
        return page.read().decode(), "; ".join(f"{one.name}={one.value}" for one in jar)
