/**
 * A client of verification sessions on plain `fetch`, for Node 24, Deno and Bun; without its types for Node 20 as well.
 * docs/sessions.md has the rules that it keeps.
 */

/** Where the service is, and a key of it. */
export interface Service {
  readonly url: string;
  readonly key: string;
}

/** What is read here of a session. */
export interface Session {
  readonly sid: string;
  readonly state: "pending" | "opened" | "completed" | "failed" | "cancelled";
  readonly url: string;
  readonly chatId: string | null;
  readonly gameId: string | null;
  readonly linkChanged: boolean;
  readonly previousGameId: string | null;
}

/** An answer that says no, and how many seconds later another one may be had; null for never. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfter: number | null;

  constructor(status: number, body: string, retryAfter: number | null) {
    super(`Refused with status ${status}: ${body}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

/**
 * Sends a request until it succeeds. After a 429 or 503 it waits as long as it is told, after a broken connection 2
 * seconds.
 *
 * @param patience how many seconds it waits at most, all in all; then it fails as the last attempt did
 */
export const send = async (url: string, request: RequestInit, patience: number): Promise<Response> => {
  try {
    // Longer than any answer takes, and soon enough after a connection went dead.
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(40_000) });
    if (response.ok) return response;
    const isTemporary = response.status === 429 || response.status === 503;
    const retryAfter = isTemporary ? Number(response.headers.get("retry-after") ?? 2) : null;
    throw new Refused(response.status, await response.text(), retryAfter);
  } catch (error) {
    const wait = error instanceof Refused ? error.retryAfter : 2;
    if (wait === null || wait > patience) throw error;
    await sleep(wait);
    return send(url, request, patience - wait);
  }
};

/** What a session is asked to be: `clientId`, and maybe `guildId`, `chatId`, `redirect`. */
export interface NewSession {
  readonly clientId: string;
  readonly guildId?: string;
  readonly chatId?: string;
  readonly redirect?: string;
}

/** Creates a session. */
export const createSession = async (
  { url, key }: Service,
  session: NewSession,
  patience = 30,
): Promise<Session> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(session) };
  const response = await send(`${url}/v2/sessions`, request, patience);
  return ((await response.json()) as { data: Session }).data;
};

/** One read. Nothing that it would have to wait for outlives the session, so it has the patience of one. */
const read = ({ url, key }: Service, path: string, headers: Record<string, string> = {}) =>
  send(`${url}/v2/sessions/${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } }, 300);

const isOver = ({ state }: Session) => state !== "pending" && state !== "opened";

/** Asks every 2 seconds. */
export const poll = (service: Service, sid: string): Promise<Session> => askUntilOver(service, sid);

/** Asks, and has the answer when the state changes, or else after 25 seconds; then asks again. */
export const longPoll = (service: Service, sid: string): Promise<Session> =>
  askUntilOver(service, `${sid}?wait=25`);

const askUntilOver = async (service: Service, path: string): Promise<Session> => {
  while (true) {
    const response = await read(service, path);
    const { data: session } = (await response.json()) as { data: Session };
    if (isOver(session)) return session;
    await sleep(2);
  }
};

/** Listens, and connects again where the last connection ended, at the change that it was told last. */
export const stream = async (service: Service, sid: string): Promise<Session> => {
  const known: Record<string, string> = {};
  while (true) {
    const response = await read(service, `${sid}/stream`, known);
    for await (const { event, id, data } of eventsOf(response)) {
      if (id !== undefined) known["last-event-id"] = id;
      if (event === "expired") throw new Refused(410, data, null);
      const session = event === "timeout" ? null : (JSON.parse(data) as Session);
      if (session !== null && isOver(session)) return session;
    }
    await sleep(2);
  }
};

/** The events of an answer, up to its end or to where its connection broke. */
async function* eventsOf({ body }: Response): AsyncGenerator<{ event?: string; id?: string; data: string }> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    while (true) {
      const { value, done } = await reader.read().catch(() => ({ value: "", done: true }));
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s, 2)));
        if (fields.data !== undefined) yield fields;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
