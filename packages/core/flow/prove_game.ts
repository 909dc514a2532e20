/** Proves a game account without a sign-in: by an earlier proof, a connection at the chat platform, or words. */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import type { PlatformUnavailable, StoreEffect } from "../errors.ts";
import type { GameId } from "../ids.ts";
import { RequestLimits } from "../limits/request_limits.ts";
import { GamePlatform, usernamesMeant } from "../platforms/mod.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { FlowAdmission, refusePlatformDown } from "./flow_admission.ts";
import type { Cookie } from "./flow_cookie.ts";
import { FlowStore, type Proof } from "./flow_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused, type FlowView } from "./flow_view.ts";
import { checkChatProof, checkUnnamed, type FlowForm, type HeldFlow, HeldFlows } from "./held_flow.ts";
import { makeKnownAccounts } from "./known_accounts.ts";
import type { makeView } from "./view_flow.ts";
import { hasWords } from "./words/words.ts";

const spans = {
  known: "VerificationFlows.chooseKnown",
  connection: "VerificationFlows.chooseConnection",
} as const;

/** How many names a flow may look up, and how often it may look for its words. */
const tries = { names: 10, checks: 30 } as const;

/** A page of the way `words`, and what was wrong with the form that it answers. */
export interface WordsView {
  readonly entry: FlowEntry;
  readonly cookie: string;
  readonly view: FlowView;
  readonly problem: "unknown_name" | "not_there" | null;
}

/** The flow of a form, and the session or scope that it is for. */
interface ProvenFlow {
  readonly flow: HeldFlow;
  readonly subject: FlowSubject;
}

type Chosen = StoreEffect<GameId | undefined, PlatformUnavailable>;

/** @param views shows the page of a flow, `show` of one that was found */
export const makeGameProofs = Effect.fnUntraced(function* ({ view, show }: Effect.Success<typeof makeView>) {
  const flows = yield* FlowStore;
  const platform = yield* GamePlatform;
  const limits = yield* RequestLimits;
  const heldFlows = yield* HeldFlows;
  const accounts = yield* FlowAccounts;
  const admission = yield* FlowAdmission;
  const known = yield* makeKnownAccounts;

  /** Returns the flow of a form whose chat account is proven, and its session or scope. */
  const provenFlowOf = Effect.fnUntraced(function* (cookie: Cookie, form: FlowForm) {
    const found = yield* heldFlows.ofForm(cookie, form);
    yield* checkUnnamed(found.subject, found.flow.entry);
    yield* checkChatProof(found.flow, found.flow.entry, cookie);
    return found;
  });

  /** Proves the game account that the form names, if it is among those that a way offers. */
  const chooseAmong = (
    way: "known" | "connection",
    choiceIn: (found: ProvenFlow, gameId: string) => Chosen,
  ) =>
    Effect.fn(spans[way])(function* (cookie: Cookie, form: FlowForm, gameId: string) {
      const found = yield* provenFlowOf(cookie, form);
      const { flow, subject } = found;
      const { chatId, entry } = flow;
      const chosen = yield* Effect.catchTags(choiceIn(found, gameId), refusePlatformDown(entry));
      if (chosen === undefined) return yield* new FlowRefused({ reason: "unfinished", entry });
      const proof = proofOf(chosen, way);
      yield* admission.accounts(subject, chatId, proof, entry);
      return yield* heldFlows.prove(flow, proof, cookie);
    });

  const choose = chooseAmong("connection", ({ flow }, gameId) =>
    Effect.succeed(flow.connections?.find((each) => each === gameId)),
  );

  const chooseKnown = chooseAmong("known", ({ flow: { chatId }, subject }, gameId) =>
    chatId === null ? Effect.undefined : known.choose(subject, chatId, gameId),
  );

  const asWords = (viewed: ReturnType<typeof view>, problem: WordsView["problem"]) =>
    Effect.map(
      viewed,
      ({ cookie, ...shown }): WordsView => ({ entry: shown.entry, cookie, view: shown, problem }),
    );

  const wordsView = (entry: FlowEntry, given: Cookie, problem: WordsView["problem"]) =>
    asWords(view(entry, given), problem);

  const showWords = Effect.fn("VerificationFlows.showWords")(function* (
    given: FlowEntry | null,
    cookie: Cookie,
  ) {
    const entered = yield* heldFlows.enter(given, cookie);
    const { flow, entry } = entered;
    const shown = yield* asWords(show(entered, cookie), null);
    if (shown.view.player !== null) return yield* new FlowRefused({ reason: "player_named", entry });
    if (shown.view.chat === null) yield* checkChatProof(flow, entry, cookie);
    return shown;
  });

  const countTry = Effect.fnUntraced(function* (
    { wordSeed, entry, expiresAt }: HeldFlow,
    address: ClientAddress | null,
    what: keyof typeof tries,
  ) {
    const flow = { name: `${what}:${wordSeed}`, limit: tries[what], endsAt: expiresAt };
    if (!(yield* limits.admitFlow(address, flow))) {
      return yield* new FlowRefused({ reason: "too_many_tries", entry });
    }
  });

  const findByName = Effect.fnUntraced(function* (typed: string, entry: FlowEntry) {
    const { findUserByName } = platform;
    if (findUserByName === undefined) return Option.none<GameId>();
    for (const username of usernamesMeant(typed)) {
      const found = yield* Effect.catchTags(findUserByName(username), refusePlatformDown(entry));
      if (Option.isSome(found)) return found;
    }
    return Option.none<GameId>();
  });

  const name = Effect.fn("VerificationFlows.nameAccount")(function* (
    cookie: Cookie,
    form: FlowForm,
    username: string,
    address: ClientAddress | null,
  ) {
    const { flow } = yield* provenFlowOf(cookie, form);
    const { id, entry } = flow;
    yield* countTry(flow, address, "names");
    const found = yield* findByName(username, entry);
    if (Option.isNone(found)) return yield* wordsView(entry, cookie, "unknown_name");
    // Whether the community admits the account is said only to users who have proven it.
    if (!(yield* flows.name(id, found.value, yield* Clock.currentTimeMillis))) {
      return yield* heldFlows.refuseGone(cookie, entry);
    }
    return yield* wordsView(entry, cookie, null);
  });

  const check = Effect.fn("VerificationFlows.checkWords")(function* (
    cookie: Cookie,
    form: FlowForm,
    address: ClientAddress | null,
  ) {
    const { flow, subject } = yield* provenFlowOf(cookie, form);
    const { named, entry } = flow;
    if (named === null || platform.findDescription === undefined) {
      return yield* new FlowRefused({ reason: "unfinished", entry });
    }
    yield* countTry(flow, address, "checks");
    const described = platform.findDescription(named);
    const description = yield* Effect.catchTags(described, refusePlatformDown(entry));
    const words = yield* accounts.words(flow, named);
    if (
      !hasWords(
        Option.getOrElse(description, () => ""),
        words,
      )
    ) {
      return yield* wordsView(entry, cookie, "not_there");
    }
    const proof = proofOf(named, "words");
    yield* admission.accounts(subject, flow.chatId, proof, entry);
    return yield* heldFlows.prove(flow, proof, cookie);
  });

  return { choose, chooseKnown, showWords, name, check };
});

const proofOf = (gameId: GameId, gameProof: "known" | "connection" | "words"): Proof => ({
  step: "game",
  game: { gameId, gameProof },
});
