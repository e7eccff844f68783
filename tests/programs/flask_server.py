"""A Flask server that answers its own requests: threads, sockets, no PyTorch."""
import logging
import threading
import urllib.request

import flask
from werkzeug.serving import make_server

app = flask.Flask(__name__)


@app.route("/page/<int:number>")
def page(number):
    return flask.jsonify(number=number, square=number * number)


def main():
    logging.getLogger("werkzeug").disabled = True
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for number in range(20):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/page/{number}") as answer:
            print(answer.status, answer.read())
    server.shutdown()
    thread.join()


if __name__ == "__main__":
    main()
