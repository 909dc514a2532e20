/** Reads verification sessions of a server over connections that stay open: streams and long polls. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";

export interface Sessions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const create = ({ url, headers }: Sessions): Promise<string> =>
  eventually(async () => {
    const created = await fetch(url, { method: "POST", headers, body: JSON.stringify({ clientId: "7" }) });
    // Retry a refused request: after six sessions, a key may create only one session every 10 seconds.
    expect(created.status).toBe(201);
    const { data } = (await created.json()) as { readonly data: { readonly sid: string } };
    return `${url}/${data.sid}`;
  });

/** A stream that has sent its first event. */
export interface OpenStream {
  readonly session: string;
  /** Waits for the end and returns everything after the first event. */
  readonly rest: () => Promise<string>;
}

/** Opens the stream of a new session, and waits for its first event. */
export const openStream = async (sessions: Sessions): Promise<OpenStream> => {
  const session = await create(sessions);
  const { body } = await fetch(`${session}/stream`, { headers: sessions.headers });
  if (body === null) throw new Error("Cannot read the stream: it has no body");
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const readTo = async (isEnough: (text: string) => boolean) => {
    let text = "";
    while (!isEnough(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  expect(await readTo((text) => /^event: session\n.*\n\n/m.test(text))).toContain('"state":"pending"');
  return { session, rest: () => readTo(() => false) };
};

/** Expects that a stream sends events as they happen, and ends with its session. */
export const expectStream = async (sessions: Sessions): Promise<void> => {
  const { session, rest } = await openStream(sessions);
  const cancelled = await fetch(session, { method: "DELETE", headers: sessions.headers });
  expect(cancelled.status).toBe(200);
  expect(await rest()).toMatch(/^event: cancelled\n.*\n\n$/m);
};

/** Expects that a long poll stays open, and is answered when a stream of the same session begins. */
export const expectPoll = async (sessions: Sessions): Promise<void> => {
  const { headers } = sessions;
  let pause = 50;
  await eventually(async () => {
    pause *= 2;
    const session = await create(sessions);
    const onAnswer = vi.fn<() => void>();
    const poll = fetch(`${session}?wait=25`, { headers }).finally(onAnswer);
    await sleep(pause);
    expect(onAnswer).not.toHaveBeenCalled();
    // A stream with this header need not keep the interval of reads.
    const stream = await fetch(`${session}/stream`, { headers: { ...headers, "last-event-id": "0" } });
    expect(stream.status).toBe(200);
    expect(await (await poll).json()).toMatchObject({ data: { state: "pending" } });
    await stream.body?.cancel();
  });
};
