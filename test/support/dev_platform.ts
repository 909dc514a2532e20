/** Controls the dev platforms of a server. */
import { makeClient } from "./http.ts";

export interface DevPlatform {
  /**
   * Makes the platforms misbehave until `recover` is called. A fault is, for example, `{ mode: "down", platform: "chat"
   * }`.
   */
  readonly fail: (fault: object) => Promise<void>;
  readonly recover: () => Promise<void>;
  readonly close: () => void;
}

/** @param port the server's `ACCOUNTLINK_DEV_PLATFORM_PORT` */
export const devPlatformOn = (port: number): DevPlatform => {
  const { send, close } = makeClient(`http://127.0.0.1:${port}`);
  const control = async (line: "PUT /faults" | "DELETE /faults", fault?: object) => {
    // On a busy machine, the platforms may close an idle connection just before its next use.
    const headers = { connection: "close" };
    const { status, text } = await send(line, fault === undefined ? { headers } : { headers, body: fault });
    if (status !== 204) throw new Error(`Cannot set a fault: the dev platform answered ${status} ${text}`);
  };
  return { fail: (fault) => control("PUT /faults", fault), recover: () => control("DELETE /faults"), close };
};
