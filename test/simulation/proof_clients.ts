/** Clients that prove accounts, as browsers of users do. */
import type { Chance } from "@accountlink/testing/simulation";
import { Effect } from "effect";
import { ask, type Behaviour, dataOf, type Proof } from "./behaviour.ts";
import { type Place, scopes } from "./deployment.ts";
import { longestAfterlife } from "./link_checks.ts";
import type { FlowPage } from "./node.ts";
import { type Request, setGame } from "./requests.ts";

const inTurn = (effects: ReadonlyArray<Effect.Effect<void>>): Effect.Effect<void> =>
  Effect.all(effects, { discard: true });

/** Proves accounts at both places, uses known ones, and unlinks them elsewhere or replaces them by hand. */
export const proofs: Behaviour = (client, records) => {
  const { deployment, operations, offers } = records;
  deployment.addPlan();

  const confirm = Effect.fnUntraced(function* (
    node: number,
    { chatId, place, gameId, isOwn }: Pick<Proof, "chatId" | "place" | "gameId" | "isOwn">,
    page: FlowPage,
  ) {
    const line = `CONFIRM ${gameId} for ${chatId} at ${place}` as const;
    const sent = yield* client.act(node, line, (serving) => serving.confirm(page));
    const isAnsweredNow = sent.outcome.kind === "answered";
    if (isAnsweredNow && dataOf(sent) === null) return;
    const until = isAnsweredNow ? sent.ended : sent.ended + longestAfterlife;
    records.proofs.push({ chatId, place, gameId, isOwn, sent, until });
    if (place === "elsewhere") return;
    const request: Request = { line, chatIds: [chatId], write: { leaves: gameId }, read: () => [] };
    operations.push({ client: client.name, request, sent: [sent] });
  });

  const enter = (node: number, chatId: string, place: Place, gameId: string | null) =>
    Effect.map(
      client.act(node, `ENTER ${place} as ${chatId}`, (serving) =>
        serving.enter(scopes[place].pid, chatId, gameId),
      ),
      (sent) => ({ sent, page: dataOf(sent) as FlowPage | null }),
    );

  const useKnown = Effect.fnUntraced(function* (chance: Chance, node: number, chatId: string, place: Place) {
    const { sent, page } = yield* enter(node, chatId, place, null);
    if (page === null) return;
    offers.push({ chatId, place, gameIds: page.offered, sent });
    if (page.offered.length === 0) return;
    deployment.count("known accounts offered");
    const gameId = chance.pick(page.offered);
    const chosen = yield* client.act(node + 1, `CHOOSE ${gameId} for ${chatId}`, (serving) =>
      serving.choose(scopes[place].pid, page, gameId),
    );
    const next = dataOf(chosen) as FlowPage | null;
    if (next !== null) yield* confirm(node, { chatId, place, gameId, isOwn: false }, next);
  });

  const proveOwn = Effect.fnUntraced(function* (node: number, chatId: string, place: Place) {
    const gameId = deployment.newGame();
    const { page } = yield* enter(node, chatId, place, gameId);
    if (page !== null) yield* confirm(node + 1, { chatId, place, gameId, isOwn: true }, page);
  });

  /** Unlinks elsewhere, or links another account there by hand. */
  const remove = (chance: Chance, node: number, chatId: string) => {
    const key = records.keyElsewhere;
    const written = chance.happens(0.5)
      ? client.send(node, "DELETE /v2/game", { key, body: { chatId } })
      : client.send(node, "PATCH /v2/game", { key, body: { chatId, gameId: deployment.newGame() } });
    return Effect.map(written, (sent) => void records.removals.push({ chatId, sent }));
  };

  return (chance, node) => {
    const chatId = chance.pick(deployment.chatIds);
    const place = chance.pick(["main", "elsewhere"] as const);
    const act = chance.pick([
      proveOwn(node, chatId, place),
      Effect.andThen(proveOwn(node, chatId, "elsewhere"), useKnown(chance, node, chatId, "main")),
      inTurn([
        proveOwn(node, chatId, "elsewhere"),
        useKnown(chance, node, chatId, "main"),
        remove(chance, node, chatId),
        useKnown(chance, node, chatId, "elsewhere"),
      ]),
      useKnown(chance, node, chatId, place),
      Effect.andThen(remove(chance, node, chatId), useKnown(chance, node + 1, chatId, place)),
      ask(client, records, node, setGame(chatId, deployment.newGame())),
    ]);
    return act;
  };
};
