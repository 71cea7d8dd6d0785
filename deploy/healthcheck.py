"""Exit code 0 if the service in this container can answer questions, else 1 and what it says.

The image has no curl. ``http.client`` rather than ``urllib``: a container is often given a proxy for its way
out, and the way to itself must not lead through that.
"""

import http.client
import os
import sys


def main() -> int:
    port = int(os.environ.get("BIOQA_PORT") or 8000)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        sys.stdout.write(answer.read(2000).decode(errors="replace") + "\n")
    except (OSError, http.client.HTTPException) as error:
        sys.stdout.write(f"no answer at port {port}: {error}\n")
        return 1
    return 0 if answer.status == http.HTTPStatus.OK else 1


if __name__ == "__main__":
    sys.exit(main())
