"""A notebook's kernel: started, asked to compute, ended."""
from jupyter_client.manager import start_new_kernel


def main():
    manager, client = start_new_kernel(kernel_name="python3")
    for code in ("value = 6 * 7", "print(value)", "1 / 0"):
        answer = client.execute_interactive(code, timeout=60, allow_stdin=False, output_hook=show)
        print(answer["content"]["status"])
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def show(message):
    content = message["content"]
    if message["msg_type"] == "stream":
        print(content["text"], end="")
    if message["msg_type"] == "error":
        print(content["ename"], content["evalue"])


if __name__ == "__main__":
    main()
