import { describeOutcome, type Sent } from "./client.ts";
import { dailyLimit, dataOf, type Records } from "./clients.ts";
import type { Happened } from "./deployment.ts";
import { oldestState } from "./faults.ts";
import { type Check, hasFault, slack } from "./promise.ts";

const keyOf = ({ key }: Sent): string => key.slice(4, 16);

/** Returns for each key the time at which the first answer confirmed its revocation. */
const revocations = (history: ReadonlyArray<Sent>): ReadonlyMap<string, number> => {
  const revoked = new Map<string, number>();
  for (const sent of history) {
    if (!sent.line.endsWith("/keys/leaked") || dataOf(sent) === null) continue;
    revoked.set(keyOf(sent), Math.min(revoked.get(keyOf(sent)) ?? Infinity, sent.ended));
  }
  return revoked;
};

export const revocation: Check = ({ history }) => {
  const revoked = revocations(history);
  return history
    .filter((sent) => sent.called > (revoked.get(keyOf(sent)) ?? Infinity) + 1_000)
    .filter((sent) => !sent.line.endsWith("/keys/leaked") && sent.outcome.kind === "answered")
    .filter(({ outcome }) => outcome.kind === "answered" && outcome.answer.status !== 401)
    .map((sent) => ({
      promise: "A revoked key is refused by every node within a second",
      how: `revoked until ${revoked.get(keyOf(sent))?.toFixed(1)}, asked at ${sent.called.toFixed(1)}: ${describeOutcome(sent)}`,
    }));
};

export const limits: Check = (records) => {
  const { history, limitedKey, deployment } = records;
  const asked = history.filter(({ key }) => key === limitedKey);
  const admitted = asked.filter(
    ({ outcome }) => outcome.kind === "answered" && outcome.answer.status !== 429,
  );
  const refused = asked.filter(({ outcome }) => outcome.kind === "answered" && outcome.answer.status === 429);
  const unknown = asked.length - admitted.length - refused.length;
  const most = dailyLimit + allowedBeyond(records, admitted);
  const told = `${admitted.length} admitted, ${refused.length} refused, ${unknown} without an answer`;
  const isExact = deployment.faults.every(({ kind }) =>
    /^(?:node (?:killed|stopped)|Postgres|signals)/.test(kind),
  );
  return [
    ...(admitted.length > most
      ? [{ promise: `At most ${most} requests of ${dailyLimit} a day`, how: told }]
      : []),
    ...(isExact && refused.length > 0 && admitted.length + unknown < dailyLimit
      ? [{ promise: `${dailyLimit} requests a day`, how: told }]
      : []),
  ];
};

/**
 * Returns how many requests more than the daily limit may be admitted after the faults of this run. The rules are in
 * docs/consistency.md.
 */
const allowedBeyond = (records: Records, admitted: ReadonlyArray<Sent>): number => {
  const { faults, nodes } = records.deployment;
  if (hasFault(records, /^messages of/)) return Infinity;
  const shares = Math.ceil(dailyLimit / nodes.length);
  const alone = ({ kind }: Happened): number => {
    if (/^node (?:cut off from Redis|frozen)|suspended/.test(kind)) return shares;
    if (/^Redis (?:down|frozen|slow)/.test(kind)) return nodes.length * shares;
    // A restarted process may not know how many requests were admitted, so it may admit its share of the limit again.
    return /^node (?:killed|stopped)/.test(kind) && hasFault(records, /Redis|frozen|suspended/)
      ? dailyLimit
      : 0;
  };
  const lost = ({ kind, from }: Happened): number => {
    if (!kind.startsWith("Redis rest")) return 0;
    const since = kind.startsWith("Redis restored")
      ? from - oldestState - slack
      : unsavedSince(records, from);
    const unsaved = admitted.filter(
      ({ ended }) => ended > Math.min(since, unsavedSince(records, from)) && ended - slack < from,
    );
    // When Redis loses its counts, nodes restore them from Postgres, but requests that were not saved there no longer
    // count. While the nodes cannot reach Postgres, each node admits its own share of the limit.
    return unsaved.length + (hasFault(records, /Postgres/) ? nodes.length * shares : 0);
  };
  return faults.reduce((sum, fault) => sum + alone(fault) + lost(fault), 0);
};

/**
 * Returns the time after which counts may be missing in Postgres at the time `at`. Nodes save counts every 5 seconds,
 * so this is 6 seconds before `at`, or 6 seconds before a fault that kept nodes from saving them.
 */
const unsavedSince = ({ deployment }: Records, at: number): number =>
  deployment.faults
    .filter(({ kind, to }) => /Postgres|node/.test(kind) && to + 7_000 > at)
    .reduce((since, { from }) => Math.min(since, from - 6_000), at - 6_000);
