"""A small web server that answers its own requests: threads, sockets, no PyTorch."""
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{self.path[::-1]}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    for number in range(20):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/page/{number}") as answer:
            print(answer.status, answer.read())
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
