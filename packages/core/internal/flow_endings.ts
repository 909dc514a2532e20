/**
 * The two ways in which a flow ends.
 */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../client_address.ts";
import { FlowRefused } from "../flow_refusal.ts";
import type { ChatId, FlowId, GameId, Pid, SessionId, Sid } from "../ids.ts";
import { FlowStore } from "../ports/flow_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { AddressVault } from "../services/address_vault.ts";
import { FlowSubjects, refuseOver } from "../services/flow_subjects.ts";
import { GuildGuard } from "../services/guild_guard.ts";
import { RequestLimits } from "../services/request_limits.ts";
import { Secrets } from "../services/secrets.ts";
import { SessionWatch } from "../services/session_watch.ts";
import type { FlowForm } from "../services/verification_flows.ts";
import { SessionSettings } from "../session_settings.ts";
import { isVoided } from "../verification_flow.ts";
import { shownAccounts } from "./flow_accounts.ts";
import { admitUser, belongsTo, flowFinder, lastEntryOf, refuseGone } from "./flow_common.ts";
import { flowIdOf } from "./flow_cookie.ts";

type Cookie = string | null;

/** `confirm` and `cancel` of `VerificationFlows`. */
export const flowEndings = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const watch = yield* SessionWatch;
  const guard = yield* GuildGuard;
  const limits = yield* RequestLimits;
  const vault = yield* AddressVault;
  const { sightingRetention } = yield* SessionSettings;
  const shown = yield* shownAccounts;
  const find = yield* flowFinder;
  const idOf = yield* flowIdOf;

  const checkForm = Effect.fnUntraced(function* (id: FlowId, subject: SessionId | Pid, { csrf }: FlowForm) {
    if (csrf !== (yield* secrets.flowCsrf(id, subject))) {
      return yield* new FlowRefused({ reason: "forged", entry: null });
    }
  });

  /** A flow that is gone may have a session that tells how it ended. */
  const refuseForm = Effect.fnUntraced(function* (cookie: Cookie, { sid }: FlowForm) {
    if (sid !== null) yield* subjects.resolve({ sid });
    return yield* refuseGone(cookie, sid === null ? null : { sid });
  });

  const linkedAccounts = (chatId: ChatId, gameId: GameId) =>
    Effect.all({ chat: shown.chat(chatId), game: shown.game(gameId) }, { concurrency: 2 });

  const confirm = Effect.fn("VerificationFlows.confirm")(function* (
    cookie: Cookie,
    form: FlowForm,
    { address, requestId }: { readonly address: ClientAddress; readonly requestId: string },
  ) {
    const flow = yield* find(cookie);
    if (flow === null) return yield* refuseForm(cookie, form);
    const { id, session, pid, chatId, gameId, entry } = flow;
    yield* checkForm(id, session ?? pid, form);
    const subject = yield* subjects.resolve(entry);
    if (isVoided(flow)) return yield* new FlowRefused({ reason: "link_changed", entry });
    if (chatId === null || gameId === null) return yield* new FlowRefused({ reason: "unfinished", entry });
    yield* admitUser(guard, subject, { chatId }, entry);
    if (session === null) yield* limits.admitFlow(address);
    const completed = yield* sessions.complete({
      flow: id,
      pid,
      chatId,
      gameId,
      address: sightingRetention > 0 ? yield* vault.protect(address) : null,
      at: yield* Clock.currentTimeMillis,
      actor: { type: "user", id: chatId },
      requestId,
    });
    switch (completed._tag) {
      case "FlowGone":
        return yield* refuseGone(cookie, entry);
      case "SessionOver":
        return yield* refuseOver(completed.session, entry);
      case "LinkChanged":
        // What the user has seen is not so any more, and nobody confirms what they have not seen.
        yield* flows.end(id);
        return yield* new FlowRefused({ reason: "link_changed", entry });
      case "Completed": {
        if (session !== null) yield* watch.announce([session]);
        const ended = { entry, guildId: subject.guildId };
        if (subject.redirect !== null) {
          return { ...ended, redirect: toldRedirect(subject.redirect, subject.sid) };
        }
        const linkChanged = completed.previousGameId !== gameId;
        return { ...ended, redirect: null, ...(yield* linkedAccounts(chatId, gameId)), linkChanged };
      }
    }
  });

  const cancel = Effect.fn("VerificationFlows.cancel")(function* (cookie: Cookie, form: FlowForm) {
    const held = yield* find(cookie);
    const entry = form.sid === null ? yield* lastEntryOf(held, cookie) : { sid: form.sid };
    // Without a session there is only the flow to end.
    const isNothing = entry === null || (held === null && !("sid" in entry));
    if (cookie === null || isNothing) return yield* refuseForm(cookie, form);
    const subject = yield* subjects.resolve(entry);
    const { session, pid, guildId } = subject;
    const ended = { entry, guildId };
    yield* checkForm(yield* idOf(cookie), session ?? pid, form);
    if (held !== null && belongsTo(held, subject)) yield* flows.end(held.id);
    if (session === null) return ended;
    const at = yield* Clock.currentTimeMillis;
    const cancelled = yield* sessions.advance({ id: session, to: "cancelled", at });
    if (Option.isNone(cancelled)) return ended;
    if (!cancelled.value.changed) return yield* refuseOver(cancelled.value.session, entry);
    yield* watch.announce([session]);
    return ended;
  });

  return { confirm, cancel };
});

const toldRedirect = (redirect: string, sid: Sid | null): string => {
  const url = new URL(redirect);
  if (sid !== null) url.searchParams.set("sid", sid);
  url.searchParams.set("state", "completed");
  return url.href;
};
