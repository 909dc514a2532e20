import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { printedBy } from "../commands/test_command_line.ts";

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
    const printed = printedBy(server.stdout, server.stderr);
    const heard = (pattern: RegExp) => vi.waitUntil(() => pattern.exec(printed()), { timeout: 60_000 });
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
