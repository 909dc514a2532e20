/** Receives webhooks, and verifies their signatures with the reference implementation. */
import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { Webhook } from "standardwebhooks";
import { afterAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
    readonly scope: { readonly pid: string; readonly guildId: string | null };
  };
}

export interface Receiver {
  readonly url: string;
  /** The deliveries to a path so far, in order. */
  readonly at: (path: string) => ReadonlyArray<Received>;
  /** Waits for a number of deliveries to a path, and returns them. */
  readonly wait: (path: string, count: number) => Promise<ReadonlyArray<Received>>;
  /** Sets the status and headers of the next answers at a path. */
  readonly answer: (path: string, status: number, headers?: Readonly<Record<string, string>>) => void;
  /** Delays answers at a path until the returned function is called. */
  readonly hold: (path: string) => () => void;
}

export const useReceiver = async (): Promise<Receiver> => {
  const received: Array<Received> = [];
  const answers = new Map<
    string,
    { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  >();
  const held = new Map<string, Promise<void>>();
  const { url } = await runUntil(afterAll)(
    startHttpServer(async ({ method, path, headers, body }) => {
      expect([method, headers["content-type"]]).toEqual(["POST", "application/json"]);
      received.push({
        path,
        id: String(headers["webhook-id"]),
        headers: headers as Readonly<Record<string, string>>,
        raw: body,
        body: JSON.parse(body) as Received["body"],
      });
      await held.get(path);
      return answers.get(path) ?? { status: 204 };
    }),
  );
  const at = (path: string) => received.filter((each) => each.path === path);
  return {
    url,
    at,
    wait: (path, count) =>
      eventually(
        () => {
          const found = at(path);
          if (found.length < count) throw new Error(`${path} got ${found.length}, expected ${count}`);
          return found;
        },
        { interval: 20 },
      ),
    answer: (path, status, headers = {}) => answers.set(path, { status, headers }),
    hold: (path) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(path, promise);
      return resolve;
    },
  };
};

/** Returns whether a delivery is signed with the secret, according to the package `standardwebhooks`. */
export const isSignedWith = (secret: string, { raw, headers }: Received): boolean => {
  try {
    new Webhook(secret).verify(raw, { ...headers });
    return true;
  } catch {
    return false;
  }
};
