/** Receives webhooks, and verifies their signatures with the reference implementation. */
import {
  type HeardRequest,
  type HttpAnswer,
  runUntil,
  startHttpServer,
  withResolvers,
} from "@accountlink/test-servers";
import { Webhook } from "standardwebhooks";
import { afterAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";

interface Received {
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

const receivedOf = ({ headers, body }: HeardRequest): Received => ({
  id: String(headers["webhook-id"]),
  headers: headers as Readonly<Record<string, string>>,
  raw: body,
  body: JSON.parse(body) as Received["body"],
});

export const useReceiver = async () => {
  const answers = new Map<string, HttpAnswer>();
  const held = new Map<string, Promise<void>>();
  const { url, heard } = await runUntil(afterAll)(
    startHttpServer(async ({ method, path, headers }) => {
      expect([method, headers["content-type"]]).toEqual(["POST", "application/json"]);
      await held.get(path);
      return answers.get(path) ?? { status: 204 };
    }),
  );
  /** The deliveries to a path so far, in order. */
  const at = (path: string) => heard.filter((each) => each.path === path).map(receivedOf);
  return {
    url,
    at,
    wait: (path: string, count: number) =>
      eventually(
        () => {
          const found = at(path);
          if (found.length < count) throw new Error(`${path} got ${found.length}, expected ${count}`);
          return found;
        },
        { interval: 20 },
      ),
    answer: (path: string, status: number, headers: HttpAnswer["headers"] = {}) =>
      answers.set(path, { status, headers }),
    /** Delays answers at a path until the returned function is called. */
    hold: (path: string) => {
      const { promise, resolve } = withResolvers<void>();
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
