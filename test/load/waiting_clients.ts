/**
 * Clients that wait, in a process of their own: each opens one request, and notes when it was answered to the end.
 */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

export interface Wanted {
  readonly requests: ReadonlyArray<{ readonly url: string; readonly key: string }>;
  /** Whether an answer begins at once, as that of a stream does. */
  readonly begins: boolean;
}

/** What it tells: first that all are open, then, once all have ended, when each did, in milliseconds of the clock. */
export type Told = { readonly open: number } | { readonly endedAt: ReadonlyArray<number> };

const openAtOnce = 100;

const tell = (told: Told) => process.send?.(told);

const open = async ({ requests, begins }: Wanted): Promise<ReadonlyArray<Promise<number>>> => {
  const ends: Array<Promise<number>> = [];
  for (let first = 0; first < requests.length; first += openAtOnce) {
    const opening = requests.slice(first, first + openAtOnce).map(async ({ url, key }) => {
      const outgoing = get(url, { agent: false, headers: { authorization: `Bearer ${key}` } });
      const answer = once(outgoing, "response") as Promise<[IncomingMessage]>;
      ends.push(answer.then(([incoming]) => endOf(incoming)));
      if (begins) await answer;
      else await once(outgoing, "finish");
    });
    await Promise.all(opening);
  }
  return ends;
};

const endOf = async (incoming: IncomingMessage): Promise<number> => {
  if (incoming.statusCode !== 200)
    throw new Error(`Cannot wait: the answer is ${incoming.statusCode}, expected 200`);
  incoming.resume();
  await once(incoming, "end");
  return Date.now();
};

const [wanted] = (await once(process, "message")) as [Wanted];
const ends = await open(wanted);
tell({ open: ends.length });
tell({ endedAt: await Promise.all(ends) });
process.disconnect();
