/** Checks what members of some communities see and do, and what their acts leave. */
import { textOf } from "../support/http.ts";
import type { Records } from "./behaviour.ts";
import type { Sent } from "./client.ts";
import { type Reach, scopes, second } from "./deployment.ts";
import { describeHistory, findContradiction } from "./linearizability.ts";
import { chatIds, team } from "./people.ts";
import type { Broken, Check } from "./promise.ts";

/** What only somebody who reaches a community may read. */
const names: Readonly<Record<Exclude<Reach, "both">, ReadonlyArray<string>>> = {
  main: [scopes.main.pid, ...[...chatIds, team.blocked].map((chatId) => `"${chatId}"`)],
  second: [second.pid, second.guildId, `"${team.inSecond}"`],
};

/** Which communities a member may have reached while a request was answered. */
const reachesDuring = (
  { deployment, team: { changes } }: Records,
  member: string,
  sent: Sent,
): ReadonlySet<Reach> => {
  const first = { reach: deployment.reaches.get(member) ?? "both", called: -2, ended: -1 };
  const all = [
    first,
    ...changes
      .filter((each) => each.member === member)
      .map(({ reach, sent: { called, ended, outcome } }) => ({
        reach,
        called,
        ended: outcome.kind === "answered" ? ended : Infinity,
      })),
  ];
  const isReplaced = ({ ended }: typeof first) =>
    all.some((later) => later.called > ended && later.ended < sent.called);
  return new Set(
    all.filter((each) => each.called < sent.ended && !isReplaced(each)).map(({ reach }) => reach),
  );
};

/** The answers that a member of a team may get. */
const isExpected = ({ outcome }: Sent): boolean => {
  if (outcome.kind !== "answered") return true;
  const { status, body } = outcome.answer;
  return status === 200 || ["BAD_REQUEST", "LINK_NOT_FOUND"].includes(textOf(body["error"]?.["code"] ?? ""));
};

const seen = (records: Records): ReadonlyArray<Broken> =>
  records.team.answers.flatMap(({ member, sent }) => {
    const { outcome, line } = sent;
    if (outcome.kind !== "answered" || member === team.owner) return [];
    const reaches = reachesDuring(records, member, sent);
    const hidden = (["main", "second"] as const).filter(
      (place) => !reaches.has(place) && !reaches.has("both"),
    );
    const told = hidden.flatMap((place) => names[place]).filter((name) => outcome.answer.text.includes(name));
    const promise = "A member of some communities sees nothing of the others";
    return told.length === 0 ? [] : [{ promise, how: `${member} read ${told.join(", ")} in ${line}` }];
  });

const acted = ({ deployment, team: { notes } }: Records): ReadonlyArray<Broken> => {
  const registers = [
    ...team.members.map((member) => [member, deployment.reaches.get(member) ?? "both"] as const),
    [team.inSecond, null] as const,
    [team.blocked, null] as const,
  ];
  return registers.flatMap(([register, initial]) => {
    const operations = notes.filter((each) => each.register === register).map(({ operation }) => operation);
    const part = findContradiction(operations, initial);
    const promise = `What members of the team do to ${register} is linearizable`;
    return part === null ? [] : [{ promise, how: describeHistory(part) }];
  });
};

const answered = (records: Records): ReadonlyArray<Broken> =>
  records.team.answers
    .filter(({ sent }) => !isExpected(sent))
    .map(({ member, sent: { line, outcome } }) => ({
      promise: "Members of a team get the answers of the contract",
      how: `${member}: ${line} ${outcome.kind === "answered" ? outcome.answer.text : outcome.kind}`,
    }));

export const teams: Check = (records) => [...answered(records), ...seen(records), ...acted(records)];
