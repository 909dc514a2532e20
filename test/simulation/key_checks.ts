import { dailyLimit, dataOf, type Records } from "./behaviour.ts";
import { describeOutcome, type Sent } from "./client.ts";
import type { Check } from "./promise.ts";

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
  const most = dailyLimit + allowedBeyond(records);
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
 * Returns how many requests more than the daily limit may be admitted after the faults of this run: the whole limit for
 * each process that counted alone, and for each time that Redis lost its counts.
 */
const allowedBeyond = ({ deployment: { faults, nodes } }: Records): number => {
  const happened = (kind: RegExp) => faults.filter((fault) => kind.test(fault.kind)).length;
  if (happened(/Redis|frozen|suspended|^messages of/) === 0) return 0;
  return dailyLimit * (nodes.length + happened(/^node (?:killed|stopped)/) + happened(/^Redis rest/));
};
