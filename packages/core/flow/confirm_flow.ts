/** Ends a flow: links the two proven accounts, keeps the user's existing link, or cancels. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { AddressVault, type ClientAddress } from "../addresses/mod.ts";
import { NewLinkAlts } from "../alts/new_link_alts.ts";
import type { DataScope } from "../data_scope.ts";
import { unkeyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { RequestLimits } from "../limits/request_limits.ts";
import { LinkCap, LinkEvents } from "../links/mod.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import {
  type CompleteFlow,
  type LinkLost,
  SessionSettings,
  SessionStore,
  SessionWatch,
} from "../sessions/mod.ts";
import type { Millis } from "../timestamp.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { FlowAdmission } from "./flow_admission.ts";
import type { Cookie } from "./flow_cookie.ts";
import { type CompletionRefusal, FlowStore, isVoided, provenGame } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects, refuseOver, withOutcome } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import { belongsTo, type FlowForm, type HeldFlow, HeldFlows } from "./held_flow.ts";
import { makeKnownAccounts } from "./known_accounts.ts";
import { makeLastPages } from "./last_page.ts";

/** The fields that a page's form sends to confirm the verification. */
export interface ConfirmForm extends FlowForm {
  /** Whether the confirmation keeps the user's existing link. */
  readonly keeps?: boolean;
  /** Whether the game account moves here from another chat user. A chat ID allows it from this chat user alone. */
  readonly moves?: boolean | ChatId;
}

export interface ConfirmedFrom {
  readonly address: ClientAddress | null;
  /** The random text in a cookie that identifies the browser, not yet validated. Null if the browser sent none. */
  readonly browser: string | null;
  readonly requestId: string;
}

const isMark = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const makeFlowEnd = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const watch = yield* SessionWatch;
  const events = yield* LinkEvents;
  const alts = yield* NewLinkAlts;
  const cap = yield* LinkCap;
  const limits = yield* RequestLimits;
  const vault = yield* AddressVault;
  const plans = yield* RolePlanStore;
  const secrets = yield* Secrets;
  const random = yield* SecureRandom.SecureRandom;
  const { sightingRetention } = yield* SessionSettings;
  const accounts = yield* FlowAccounts;
  const admission = yield* FlowAdmission;
  const heldFlows = yield* HeldFlows;
  const { isStillKnown } = yield* makeKnownAccounts;
  const lastPages = yield* makeLastPages;

  /** Completes a flow, unless the plan of the account has no room for its link. Who loses a link makes room for it. */
  const completeWithin = Effect.fnUntraced(function* (
    { scope, settings }: FlowSubject,
    write: CompleteFlow,
    entry: FlowEntry,
  ) {
    const { pid, chatId, gameId, keeps, moves } = write;
    const complete = sessions.complete(write);
    const isMove = moves && settings.oneChatUser && (yield* accounts.holderOf(pid, chatId, gameId)) !== null;
    if (keeps || isMove) return yield* complete;
    return yield* cap
      .admit(scope, chatId, complete)
      .pipe(Effect.catchTag("Conflict", () => new FlowRefused({ reason: "full", entry })));
  });

  /** Tells who follows sessions and links that users have lost a game account to another user. */
  const announceLosers = (scope: DataScope, previousGameId: GameId, losers: ReadonlyArray<LinkLost>) =>
    Effect.forEach(
      losers,
      ({ chatId, ended }) =>
        Effect.andThen(
          watch.announce(ended),
          events.announce("linkChanged", { scope, chatId, gameId: null, previousGameId }),
        ),
      { discard: true },
    );

  /**
   * Returns the address and the browser hash to store as sightings, and the mark, a random text that identifies the
   * browser. All are null if the user keeps their link, or if the deployment stores no sightings.
   */
  const seenOf = Effect.fnUntraced(function* ({ address, browser }: ConfirmedFrom, keeps: boolean) {
    if (sightingRetention === 0 || keeps) return { mark: null, seen: { address: null, browser: null } };
    // A mark that the browser already has is kept, to show when several chat users confirm in the same browser.
    const mark = browser !== null && isMark(browser) ? browser : yield* randomToken(random);
    const seen = {
      address: address === null ? null : yield* vault.protect(address),
      browser: yield* secrets.browserHash(mark),
    };
    return { mark, seen };
  });

  /** Lets the role plans of a scope look at a member. */
  const markInGuilds = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, at: Millis) {
    for (const { guildId } of yield* plans.list(pid)) yield* plans.markMember(guildId, chatId, at);
  });

  /** The page that the user confirmed is out of date, so the flow ends and both accounts must be proven again. */
  const refuseChanged = Effect.fnUntraced(function* ({ id, entry }: HeldFlow) {
    yield* flows.end(id);
    return yield* new FlowRefused({ reason: "link_changed", entry });
  });

  /** Asks again, at the confirmation, whether the community takes the two accounts and the proof. */
  const requireAdmitted = Effect.fnUntraced(function* (
    subject: FlowSubject,
    flow: HeldFlow,
    chatId: ChatId,
    game: NonNullable<ReturnType<typeof provenGame>>,
  ) {
    if (game.gameProof === "known" && !(yield* isStillKnown(subject, chatId, game.gameId))) {
      return yield* refuseChanged(flow);
    }
    yield* admission.accounts(subject, chatId, { step: "chat", chatId, game }, flow.entry);
  });

  /** Refuses a confirmation that the store did not complete. */
  const refuseOutcome = Effect.fnUntraced(function* (
    refused: CompletionRefusal,
    flow: HeldFlow,
    cookie: Cookie,
  ) {
    const { entry } = flow;
    switch (refused._tag) {
      case "FlowGone":
        return yield* heldFlows.refuseGone(cookie, entry);
      case "SessionOver":
        return yield* refuseOver(refused.session, entry);
      case "LinkChanged":
        return yield* refuseChanged(flow);
      case "Blocked":
        return yield* new FlowRefused({ reason: "blocked", entry });
      case "Taken":
        return yield* new FlowRefused({ reason: "taken", entry });
    }
  });

  const confirm = Effect.fn("VerificationFlows.confirm")(function* (
    cookie: Cookie,
    form: ConfirmForm,
    from: ConfirmedFrom,
  ) {
    const { keeps = false, moves = false } = form;
    const { flow, subject } = yield* heldFlows.ofForm(cookie, form);
    const { id, session, pid, chatId, entry } = flow;
    if (isVoided(flow)) return yield* new FlowRefused({ reason: "link_changed", entry });
    const game = provenGame(flow);
    if (chatId === null || game === null) return yield* new FlowRefused({ reason: "unfinished", entry });
    yield* admission.user(subject, { chatId }, entry);
    if (session === null) yield* limits.admitAddress(from.address, "verifyDay");
    const { mark, seen } = yield* seenOf(from, keeps);
    if (!keeps) yield* requireAdmitted(subject, flow, chatId, game);
    const at = yield* Clock.currentTimeMillis;
    const write = {
      flow: id,
      pid,
      chatId,
      gameId: game.gameId,
      proof: game.gameProof,
      ...seen,
      at,
      actor: { type: "user", id: chatId },
      requestId: from.requestId,
      keeps,
      moves,
      chatHash: secrets.blockHash(pid, { chatId, gameId: null }),
    } as const;
    const completed = yield* completeWithin(subject, write, entry);
    const ended = { entry, guildId: subject.guildId, browser: mark };
    const { doneText } = subject.settings;
    if (completed._tag !== "Completed") return yield* refuseOutcome(completed, flow, cookie);
    const { gameId: linked, previousGameId, losers } = completed;
    const { scope } = subject;
    yield* announceLosers(scope, linked, losers);
    yield* events.announce("linkChanged", { scope, chatId, gameId: linked, previousGameId });
    // Rules may ask whether a link was proven. Without a session, no event tells them that a manual or imported link is now.
    if (session === null && !keeps && previousGameId === linked) yield* markInGuilds(pid, chatId, at);
    if (previousGameId !== linked) yield* alts.count(scope, { chatId, gameId: linked, at });
    if (session !== null) yield* watch.announce([session]);
    const outcome = { entry, guildId: subject.guildId, linkChanged: previousGameId !== linked, kept: keeps };
    const lastPage = yield* lastPages.keep(form.csrf, {
      _tag: "Linked",
      ...outcome,
      pid,
      chatId,
      gameId: linked,
    });
    if (subject.redirect !== null)
      return { ...ended, redirect: withOutcome(subject.redirect, subject.sid, "completed"), lastPage };
    const shown = yield* accounts.both(chatId, linked);
    return { ...ended, ...outcome, ...shown, redirect: null, doneText, lastPage };
  });

  const cancel = Effect.fn("VerificationFlows.cancel")(function* (cookie: Cookie, form: FlowForm) {
    const held = yield* heldFlows.find(cookie);
    const entry = form.sid === null ? yield* heldFlows.lastEntry(held, cookie) : { sid: form.sid };
    // Without a flow and without a session, there is nothing to cancel.
    const isNothing = entry === null || (held === null && !("sid" in entry));
    if (cookie === null || isNothing) return yield* heldFlows.refuseForm(cookie, form);
    const subject = yield* subjects.resolve(entry);
    const { session, pid, guildId, redirect, sid } = subject;
    const page = { entry, guildId, redirect: redirect && withOutcome(redirect, sid, "cancelled") };
    const ended = { ...page, lastPage: yield* lastPages.keep(form.csrf, { _tag: "Cancelled", ...page }) };
    yield* heldFlows.checkForm(yield* heldFlows.idOf(cookie), session ?? pid, form, entry);
    if (held !== null && belongsTo(held, subject)) yield* flows.end(held.id);
    if (session === null) return ended;
    const at = yield* Clock.currentTimeMillis;
    const cancelled = yield* unkeyed(sessions.advance({ id: session, to: "cancelled", at }));
    if (Option.isNone(cancelled)) return ended;
    if (!cancelled.value.changed) return yield* refuseOver(cancelled.value.session, entry);
    yield* watch.announce([session]);
    return ended;
  });

  return { confirm, cancel };
});
