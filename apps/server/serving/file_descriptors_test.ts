import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

it.skipIf(process.platform === "win32")(
  "a server logs that file descriptors ran out, and are back",
  async () => {
    // Limits open files to 60, which the 200 connections of this test exceed.
    const limited = ["-c", 'ulimit -n 60 && exec "$0" "$@"', process.execPath, main, "serve"];
    const server = spawn("/bin/sh", limited, {
      env: { ACCOUNTLINK_STORAGE: "memory", ACCOUNTLINK_PLATFORM: "dev", ACCOUNTLINK_PORT: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(async () => {
      server.kill();
      await once(server, "close");
    });
    let printed = "";
    const heard = (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve) => {
        const look = () => {
          const found = pattern.exec(printed);
          if (found !== null) resolve(found);
        };
        for (const stream of [server.stdout, server.stderr]) stream.on("data", look);
        look();
      });
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    const [, port] = await heard(/^listening on http:\/\/127\.0\.0\.1:(\d+)$/m);
    const sockets = Array.from({ length: 200 }, () =>
      connect(Number(port), "127.0.0.1").on("error", () => {}),
    );
    await heard(/"message":"Out of file descriptors \(EMFILE\): connections are refused/);
    for (const socket of sockets) socket.destroy();
    await heard(/"message":"File descriptors are available again"/);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  },
);
