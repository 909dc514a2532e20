/** Checks answers about links, and the effects of idempotency keys. */

import type { Operation as Asked } from "./behaviour.ts";
import { describeOutcome } from "./client.ts";
import { describeHistory, findContradiction, type Operation } from "./linearizability.ts";
import { type Check, isFinal } from "./promise.ts";

/** An unanswered write may still take effect this many milliseconds after the client's last attempt has ended. */
export const longestAfterlife = 10_000;

export const answers: Check = ({ history, operations }) => {
  const promise = "Every answer matches the contract";
  const wrong = history.filter(({ outcome }) => outcome.kind === "wrong").map(describeOutcome);
  const unreadable = operations.flatMap(({ request, sent }) =>
    sent.filter(isFinal).flatMap((each) => {
      try {
        if (each.outcome.kind === "answered") request.read(each.outcome.answer);
        return [];
      } catch (error) {
        return [`${each.line}: ${String(error)}`];
      }
    }),
  );
  return [...wrong, ...unreadable].map((how) => ({ promise, how }));
};

/** Returns the operations on a chat user, for `findContradiction`. */
const operationsOn = (asked: ReadonlyArray<Asked>, chatId: string): ReadonlyArray<Operation> =>
  asked.flatMap(({ client, request, sent }): ReadonlyArray<Operation> => {
    const place = request.chatIds.indexOf(chatId);
    const tried = sent.filter(({ outcome }) => outcome.kind !== "not sent");
    if (place === -1 || tried.length === 0) return [];
    const answered = tried.filter(isFinal);
    const [first] = answered;
    const found = first?.outcome.kind === "answered" ? request.read(first.outcome.answer)[place] : undefined;
    return [
      {
        client: Number(client.split(" ")[1]),
        called: Math.min(...tried.map(({ called }) => called)),
        answered: first === undefined ? null : Math.min(...answered.map(({ ended }) => ended)),
        found: found ?? null,
        until: Math.max(...tried.map(({ ended }) => ended)) + longestAfterlife,
        ...(request.write === undefined ? {} : { wrote: request.write.leaves }),
      },
    ];
  });

export const linearizability: Check = ({ operations, deployment }) =>
  deployment.chatIds.flatMap((chatId) => {
    const part = findContradiction(operationsOn(operations, chatId), null);
    if (part === null) return [];
    return [
      { promise: `Reads and writes of chat user ${chatId} are linearizable`, how: describeHistory(part) },
    ];
  });

export const onePerKey: Check = ({ operations }) =>
  operations.flatMap(({ sent }) => {
    const told = new Set(
      sent.filter(isFinal).map(({ outcome }) => {
        const { status, body } = (outcome as Extract<typeof outcome, { kind: "answered" }>).answer;
        return JSON.stringify([status, body["data"], body["error"]?.["code"]]);
      }),
    );
    if (told.size < 2) return [];
    return [{ promise: "An idempotency key has one answer", how: [...told].join(" and ") }];
  });
