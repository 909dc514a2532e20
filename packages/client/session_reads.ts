import { orNull } from "./answers.ts";
import type { VerificationSession } from "./contract.ts";
import { eventsOf } from "./event_stream.ts";
import type { CallOptions } from "./options.ts";
import type { Transport } from "./transport.ts";
import { sleep } from "./waiting.ts";

export interface PollOptions extends CallOptions {
  /** Whole seconds that one read waits for a change: 0 to 25, 25 by default. */
  readonly wait?: number | undefined;
}

/** Milliseconds from the beginning of a read of a session to the next one. */
const interval = 2_000;

/** The service counts the interval from when a read reaches it, which takes longer for some reads than for others. */
const delay = 100;

const isFinal = ({ state }: VerificationSession): boolean => state !== "pending" && state !== "opened";

/** Yields the session at each change, up to its final state. */
export async function* pollSession(
  { call }: Transport,
  sid: string,
  { wait = 25, ...options }: PollOptions = {},
): AsyncGenerator<VerificationSession> {
  let state: string | null = null;
  while (true) {
    const begun = performance.now();
    const session = await call("getSession", { ...options, sid, wait });
    if (session.state !== state) yield session;
    if (isFinal(session)) return;
    ({ state } = session);
    await sleep(Math.max(0, begun + interval + delay - performance.now()), options.signal);
  }
}

/** Yields the current session and each change, up to its final state, reconnecting as needed. */
export async function* watchSession(
  { open }: Transport,
  sid: string,
  options: CallOptions = {},
): AsyncGenerator<VerificationSession> {
  let lastEventId = "";
  let pause = interval;
  let last: VerificationSession | undefined;
  while (true) {
    const headers = lastEventId === "" ? {} : { "last-event-id": lastEventId };
    const opening = open("streamSession", { ...options, sid }, headers);
    const opened = await (last === undefined ? opening : orNull("SESSION_EXPIRED", opening));
    if (opened === null) {
      // The session expired between two streams.
      yield { ...last, state: "expired" } as VerificationSession;
      return;
    }
    const begun = performance.now();
    // The service answers 204 if the final state was already sent.
    if (opened.response.status === 204) return;
    for await (const { event, data, id, retry } of eventsOf(opened, options.signal)) {
      // The event `timeout` has no ID. If a stream sends nothing else, `id` is empty: keep the ID from earlier streams.
      lastEventId = id || lastEventId;
      pause = retry ?? pause;
      if (event === "timeout") break;
      last = JSON.parse(data) as VerificationSession;
      yield last;
      if (isFinal(last)) return;
    }
    // Two readers of a session end each other's streams: the pause after such a short stream slows them down.
    await sleep(Math.max(0, begun + pause - performance.now()), options.signal);
  }
}

/** Returns the final state of a session, by long poll. */
export const waitForSession = async (
  transport: Transport,
  sid: string,
  options?: PollOptions,
): Promise<VerificationSession> => {
  let last: VerificationSession | undefined;
  for await (const session of pollSession(transport, sid, options)) last = session;
  // Every poll yields a session, in the end the final one.
  return last as VerificationSession;
};
