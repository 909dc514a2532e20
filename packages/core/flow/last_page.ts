/**
 * The last page of a flow, kept in a signed cookie of its browser: the flow is gone by then, and its users still load the
 * page again. The cookie holds IDs alone, and a page of linked accounts shows only while they are linked.
 */
import { Clock, Effect, Option, Result, Struct } from "effect";
import { Base64Url } from "effect/encoding";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { type Cookie, maxCookieLength } from "./flow_cookie.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import {
  type FlowEnded,
  type FlowEntry,
  type FlowLinked,
  type FlowRefusal,
  FlowRefused,
} from "./flow_view.ts";

/** How long a browser can load the last page again, in milliseconds. @internal */
export const lastPageLife = dayMs;

interface Linked extends Pick<FlowLinked, "entry" | "guildId" | "linkChanged" | "kept"> {
  readonly _tag: "Linked";
  readonly pid: Pid;
  readonly chatId: ChatId;
  readonly gameId: GameId;
}

type Cancelled = FlowEnded & { readonly _tag: "Cancelled" };

interface Refused
  extends Omit<ConstructorParameters<typeof FlowRefused>[0], "account" | "supportUrl" | "cause"> {
  readonly _tag: "Refused";
  /** The account that signed in. */
  readonly chatId: ChatId | null;
}

interface LastPage {
  /** The CSRF token of the form, or the state of the sign-in, that the page answered. */
  readonly answered: string;
  readonly until: Millis;
  readonly page: Linked | Cancelled | Refused;
}

const lateReasons: ReadonlySet<FlowRefusal> = new Set([
  "lost",
  "over",
  "forged",
  "unfinished",
  "sign_in_invalid",
]);

/** Whether a request that was answered before would be refused like this. The answer before says more. @internal */
export const isLate = ({ reason }: FlowRefused): boolean => lateReasons.has(reason);

/** Whether a form was sent again after a refusal that left the flow open, and has ended the flow since. */
const hasGoneOn = ({ reason }: Refused, late: FlowRefused | null): boolean =>
  reason !== "link_changed" && (late?.reason === "over" || late?.reason === "lost");

export const makeLastPages = Effect.gen(function* () {
  const secrets = yield* Secrets;
  const keys = yield* KeyStore;
  const links = yield* LinkStore;
  const accounts = yield* FlowAccounts;
  const subjects = yield* FlowSubjects;

  /** Returns the cookie of a page; null if the page answers nothing that can be sent again, or the cookie is too long. */
  const keep = Effect.fnUntraced(function* (answered: string | null, page: LastPage["page"]) {
    if (answered === null) return null;
    const until = (yield* Clock.currentTimeMillis) + lastPageLife;
    const body = Base64Url.encode(JSON.stringify({ answered, until, page }));
    const cookie = `${body}.${yield* secrets.lastPageTag(body)}`;
    return cookie.length > maxCookieLength ? null : cookie;
  });

  const open = Effect.fnUntraced(function* (cookie: Cookie) {
    const [body = "", tag] = cookie?.split(".") ?? [];
    if (tag !== (yield* secrets.lastPageTag(body))) return null;
    const opened: LastPage = JSON.parse(Result.getOrThrow(Base64Url.decodeString(body)));
    return opened.until > (yield* Clock.currentTimeMillis) ? opened : null;
  });

  const showLinked = Effect.fnUntraced(function* ({ _tag, pid, chatId, gameId, ...page }: Linked) {
    const scope = Option.getOrNull(yield* keys.findScopeByPid(pid));
    const record = Option.getOrNull(yield* links.findByChatId(pid, chatId));
    if (scope === null || record?.gameId !== gameId) {
      const { entry, guildId } = page;
      const onward = { pid, guildId, redirect: null };
      return yield* new FlowRefused({
        reason: "over",
        state: "completed",
        isStillLinked: false,
        entry,
        onward,
      });
    }
    const shown = yield* accounts.both(chatId, gameId);
    return { ...page, ...shown, redirect: null, doneText: scope.settings.doneText };
  });

  /** Where users of a community get help; null if the owner did not set it, or the entry leads nowhere any more. */
  const supportUrlOf = Effect.fnUntraced(
    function* (entry: FlowEntry | null) {
      return entry === null ? null : (yield* subjects.resolve(entry)).settings.supportUrl;
    },
    Effect.orElseSucceed(() => null),
  );

  const showRefused = Effect.fnUntraced(function* ({ _tag, chatId, ...refused }: Refused, lastPage: Cookie) {
    const account = chatId === null ? {} : { account: yield* accounts.chat(chatId) };
    const supportUrl = yield* supportUrlOf(refused.entry);
    return yield* new FlowRefused({ ...refused, ...account, supportUrl, lastPage });
  });

  return {
    keep,

    /** Adds where to get help, and its cookie, to a refusal that answers a form or a sign-in; null keeps no cookie. */
    keepRefusal: (answered: string | null) => (refused: FlowRefused) => {
      if (isLate(refused)) return refused;
      const { account, cause } = refused;
      const fields = Struct.pick(refused, [
        "reason",
        "entry",
        "state",
        "isStillLinked",
        "step",
        "from",
        "onward",
      ]);
      const page = { ...fields, _tag: "Refused", chatId: account?.id ?? null } as const;
      return Effect.flatMap(
        Effect.all({ lastPage: keep(answered, page), supportUrl: supportUrlOf(refused.entry) }),
        (added) => new FlowRefused({ ...fields, ...(account && { account }), cause, ...added }),
      );
    },

    /**
     * Shows the last page of a browser again, or fails again with its refusal.
     *
     * @param answered the CSRF token or state that the page must have answered; null if any page will do
     * @param late how the request is refused now; null if it only asks for the page
     */
    show: Effect.fnUntraced(function* (cookie: Cookie, answered: string | null, late: FlowRefused | null) {
      const opened = yield* open(cookie);
      if (opened === null || (answered !== null && answered !== opened.answered)) return null;
      const { page } = opened;
      if (page._tag === "Refused") return hasGoneOn(page, late) ? null : yield* showRefused(page, cookie);
      return page._tag === "Linked" ? yield* showLinked(page) : page;
    }),
  };
});
