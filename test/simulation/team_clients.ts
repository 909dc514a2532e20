/** Members of a team, each of some communities: what they and their owner do on the dashboard. */
import type { Pid } from "@accountlink/core";
import type { Chance } from "@accountlink/testing/simulation";
import { Effect } from "effect";
import { type Behaviour, dataOf } from "./behaviour.ts";
import type { Sent } from "./client.ts";
import { pidsOf, type Reach, scopes, second } from "./deployment.ts";
import type { Found, Value } from "./linearizability.ts";
import { longestAfterlife } from "./link_checks.ts";
import type { SignedIn } from "./node.ts";
import { team as people } from "./people.ts";
import { listLinks, removeGame, setGame } from "./requests.ts";

type Line = `${string} ${string}`;

const pids: Readonly<Record<Exclude<Reach, "both">, Pid>> = { main: scopes.main.pid, second: second.pid };

const api = "/dashboard/api";

const codeOf = ({ outcome }: Sent): unknown =>
  outcome.kind === "answered" ? outcome.answer.body["error"]?.["code"] : undefined;

/** Links, unlinks and blocks users of both communities as members who reach one or both, while that changes. */
export const team: Behaviour = (client, records) => {
  const { deployment, operations, key } = records;
  deployment.addTeam();
  const signIns = new Map<string, SignedIn>();

  /** Notes what a request says about a value that others change, or that it changes. */
  const note = (register: string, sent: Sent, found: Found | null, wrote?: Value) => {
    if (sent.outcome.kind === "not sent") return;
    const isAnswered = sent.outcome.kind === "answered";
    const operation = {
      client: Number(client.name.split(" ")[1]),
      called: sent.called,
      answered: isAnswered ? sent.ended : null,
      until: sent.ended + longestAfterlife,
      found: isAnswered ? found : null,
      ...(wrote !== undefined && { wrote }),
    };
    records.team.notes.push({ register, operation });
  };

  const ask = Effect.fnUntraced(function* (node: number, member: string, line: Line, body?: object) {
    const known = signIns.get(member);
    const signIn =
      known ??
      (dataOf(
        yield* client.act(node, `SIGN-IN ${member}`, (serving) => serving.signIn(member)),
      ) as SignedIn | null);
    if (signIn === null) return null;
    signIns.set(member, signIn);
    const sent = yield* client.send(node, line, { key: "", page: signIn, ...(body && { body }) });
    records.team.answers.push({ member, sent });
    return sent;
  });

  /** Asks for something in a community. Returns null if the member does not reach it, as the answer says. */
  const askIn = Effect.fnUntraced(function* (
    node: number,
    member: string,
    place: Exclude<Reach, "both">,
    line: Line,
    body?: object,
  ) {
    const sent = yield* ask(node, member, line, body && { pid: pids[place], ...body });
    if (sent === null) return null;
    const other = place === "main" ? "second" : "main";
    const isReached = codeOf(sent) !== "BAD_REQUEST";
    note(member, sent, isReached ? { isNot: other } : { is: other });
    return isReached ? sent : null;
  });

  const change = Effect.fnUntraced(function* (chance: Chance, node: number, member: string) {
    const reach = chance.pick(["main", "second", "both"] as const);
    const sent = yield* ask(node, people.owner, `PATCH ${api}/members/${member}`, { scopes: pidsOf(reach) });
    if (sent === null) return;
    note(member, sent, null, reach);
    records.team.changes.push({ member, reach, sent });
  });

  /** Changes or lists the links of the users in the main community, which keys change as well. */
  const inMain = Effect.fnUntraced(function* (chance: Chance, node: number, member: string) {
    const chatId = chance.pick(deployment.chatIds);
    const request = chance.pick([
      { ...setGame(chatId, deployment.newGame()), line: `PUT ${api}/links` as const },
      { ...removeGame(chatId), line: `DELETE ${api}/links` as const },
      listLinks(`GET ${api}/links?pid=${pids.main}&limit=100`, deployment.chatIds),
    ]);
    const sent = yield* askIn(node, member, "main", request.line, request.body);
    if (sent !== null) operations.push({ client: client.name, request, sent: [sent] });
  });

  /** The same for the only user in the other community. */
  const inSecond = Effect.fnUntraced(function* (chance: Chance, node: number, member: string) {
    const { inSecond: chatId } = people;
    const { line, body, read, write } = chance.pick([
      { ...setGame(chatId, deployment.newGame()), line: `PUT ${api}/links` as const },
      { ...removeGame(chatId), line: `DELETE ${api}/links` as const },
      listLinks(`GET ${api}/links?pid=${pids.second}&limit=100`, [chatId]),
    ]);
    const sent = yield* askIn(node, member, "second", line, body);
    if (sent === null) return;
    const [found = null] = sent.outcome.kind === "answered" ? read(sent.outcome.answer) : [];
    note(chatId, sent, found, write?.leaves);
  });

  /** Blocks or unblocks a user, or finds out whether the user is blocked. */
  const block = Effect.fnUntraced(function* (chance: Chance, node: number, member: string) {
    const { blocked: chatId } = people;
    const asked = chance.pick(["block", "unblock", "link", "look up"] as const);
    if (asked === "block") {
      const sent = yield* askIn(node, member, "main", `PUT ${api}/blocks`, { chatId });
      if (sent !== null) note(chatId, sent, null, "blocked");
    } else if (asked === "unblock") {
      const sent = yield* askIn(node, member, "main", `DELETE ${api}/blocks`, { chatId });
      if (sent !== null)
        note(chatId, sent, { is: dataOf(sent)?.["deleted"] === true ? "blocked" : null }, null);
    } else if (asked === "link") {
      const body = { chatId, gameId: deployment.newGame() };
      const sent = yield* client.send(node, "PATCH /v2/game", { key, body });
      note(chatId, sent, { is: codeOf(sent) === "CONFLICT" ? "blocked" : null });
    } else {
      const sent = yield* client.send(node, `GET /v2/chat?chatId=${chatId}`, { key });
      note(chatId, sent, dataOf(sent) === null ? null : { is: null });
    }
  });

  const list = (chance: Chance, node: number, member: string) =>
    ask(node, member, `GET ${api}/${chance.pick(["audit?limit=100", "scopes", "members"])}`);

  const acts = [change, inMain, inMain, inSecond, block, block, list, list];

  return (chance, node) =>
    Effect.gen(function* () {
      for (let count = 1 + chance.below(4); count > 0; count--) {
        yield* chance.pick(acts)(chance, node + chance.below(2), chance.pick(people.members));
      }
    });
};
