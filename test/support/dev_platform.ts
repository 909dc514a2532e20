/** Controls the dev platforms of a server. */
import { makeClient, type Send } from "./http.ts";

export type DevPlatform = Omit<ReturnType<typeof devPlatformOn>, "close">;

/** @param port the server's `ACCOUNTLINK_DEV_PLATFORM_PORT` */
export const devPlatformOn = (port: number) => {
  const client = makeClient(`http://127.0.0.1:${port}`);
  /**
   * Sends a request to the platforms, such as `PUT /control/guilds/…`, which changes their data. On a busy machine, they
   * may close an idle connection just before its next use, so none is kept.
   */
  const send: Send = (line, options = {}) =>
    client.send(line, { ...options, headers: { connection: "close", ...options.headers } });
  const control = async (...request: Parameters<Send>) => {
    const { status, text } = await send(...request);
    if (status !== 204) throw new Error(`Cannot set a fault: the dev platform answered ${status} ${text}`);
  };
  return {
    /**
     * Makes the platforms misbehave until `recover` is called. A fault is, for example, `{ mode: "down", platform:
     * "chat" }`.
     */
    fail: (fault: object) => control("PUT /faults", { body: fault }),
    recover: () => control("DELETE /faults"),
    send,
    close: client.close,
  };
};
