/** The account of the user at the dashboard, and the permissions of the user's role. */

import { type ChatId, OwnedKeys, type Pid, RequestLimits } from "@accountlink/core";
import {
  type AccountsOfUser,
  hasAccepted,
  Members,
  type Membership,
  permits,
  type Reader,
} from "@accountlink/core/accounts";
import { isGenerated } from "@accountlink/core/communities";
import { Forbidden, InvalidSession, type StoreUnavailable } from "@accountlink/core/errors";
import { type Account, type KeyOwner, reaches } from "@accountlink/core/keys";
import { visibleName } from "@accountlink/core/name_text";
import { featuresOf, GamePlatform, PlatformRefusals, Profiles } from "@accountlink/core/platforms";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { type Asker, RequestPlaces } from "@accountlink/core/turns";
import { Webhooks } from "@accountlink/core/webhooks";
import {
  basePathOf,
  HttpResponse,
  HttpSettings,
  type RequestContext,
  searchOf,
} from "@accountlink/http/for_pages";
import type { RawValues, Route } from "@accountlink/http-api";
import { Effect, Record } from "effect";
import { footerHtml } from "../footer.ts";
import { type Html, html, type ReachedPlatforms } from "../html.ts";
import { Languages } from "../languages/mod.ts";
import { platformNames } from "../page_render.ts";
import { type Answering, asEffect, formSizes, redirectTo } from "../page_requests.ts";
import { PageSettings } from "../page_settings.ts";
import { readInPlace } from "../page_turns.ts";
import type { SiteError } from "../sign_ins/refusals.ts";
import { makeSiteRoutes, type Visitor } from "../sign_ins/site_routes.ts";
import { type Fields, fieldsFrom, fieldsOf } from "./form_fields.ts";
import type { NoticeName } from "./look/notice.ts";
import { orShowAgain, type Refused } from "./look/refused.ts";
import { say, wordingOf } from "./look/say.ts";
import { orOutOfReach } from "./out_of_reach.ts";
import { type Page, pageResponse } from "./page.ts";
import { paths, roleOfPage, sections, sizeOfForm, withQuery } from "./paths.ts";

export interface OwnerVisitor extends Visitor, SignedInMember {
  readonly platforms: ReachedPlatforms;
}

export type Answer = Answering<Page | HttpResponse, SiteError>;

/** The values of a form by the names of its fields, without white space around them. */
export const typedIn = <Name extends string>(labels: Readonly<Record<Name, unknown>>, fields: Fields) =>
  Record.map(labels, (_, name): string => fields(name).trim());

type Shown = Effect.Effect<Page, SiteError>;

/** Reads the fields of a form, and does what the form is for. @param others see `formOperation` */
type Submit<A> = (visitor: OwnerVisitor, fields: Fields, others?: RawValues) => Effect.Effect<A, SiteError>;

type DashboardPath = `/dashboard${string}`;

export type OwnerPages = Effect.Success<typeof makeOwnerPages>;

/** Makes routes like `makeSiteRoutes`, whose handlers also get the account and the role of the visitor. */
export const makeOwnerPages = Effect.gen(function* () {
  const { routes, keylessAnswer, ...site } = yield* makeSiteRoutes("dashboard");
  const settings = yield* PageSettings;
  const languages = yield* Languages;
  const basePath = basePathOf(yield* HttpSettings);
  const platform = yield* GamePlatform;
  const ownerName = yield* makeOwnerName;
  const named = yield* makeNamed;
  const memberOf = yield* makeMemberOf;
  const { chargeTo } = yield* PlatformRefusals;
  const places = yield* RequestPlaces;
  const limits = yield* RequestLimits;
  const keys = yield* OwnedKeys;
  const webhooks = yield* Webhooks;

  /** Returns whether an account has keys or webhooks. Moderators see the sections of neither. */
  const hasPrograms = Effect.fnUntraced(function* ({ owner, role, scopes }: OwnerVisitor) {
    if (!permits({ role, scopes }, "admin_of_all")) return false;
    return (yield* keys.hasAny(owner)) || (yield* webhooks.list(owner.account.name)).length > 0;
  });

  const withOwner = (path: DashboardPath, visitor: Visitor): Effect.Effect<OwnerVisitor, SiteError> =>
    Effect.gen(function* () {
      const { context } = visitor;
      const member = yield* memberOf(visitor, roleOfPage(path));
      const { names: hasGameNames } = yield* featuresOf(platform);
      const { chatName: chat, gameName: game } = platformNames(settings, context.language);
      return { ...visitor, ...member, platforms: { chat, game, hasGameNames } };
    });

  const render = Effect.fnUntraced(function* (answered: Page, visitor: OwnerVisitor) {
    const { context, owner, accounts, invitations } = visitor;
    const { account, requestId } = owner;
    const userName = yield* ownerName(owner);
    const title = titleOf(yield* named(account));
    const { language, request } = context;
    const isPosted = request.method === "POST";
    const page = { ...answered, isPosted, status: answered.status ?? answered.refused?.status ?? 200 };
    const words = yield* languages.dashboard.get(language.tag);
    const english = wordingOf(yield* languages.dashboard.get("en"));
    const wording = { language, reader: wordingOf(words, english), english };
    const address = isPosted ? sections[page.section].path : addressOf(context);
    const choice = languages.dashboard.choice(language, address);
    return pageResponse(
      page,
      {
        ...visitor,
        account: { ...account, title },
        hasPrograms: yield* hasPrograms(visitor),
        userName,
        hasChoice: accounts.length + invitations.length > 1,
        done: context.query["done"],
      },
      wording,
      footerHtml(language, settings, requestId, choice),
      basePath,
    );
  });

  const answerOf = (owning: OwnerVisitor, answer: (visitor: OwnerVisitor) => Answer) => {
    const shown = orOutOfReach(asEffect(answer(owning)));
    return Effect.flatMap(orShowAgain(shown, limitPage, ["RateLimited"]), (answered) =>
      answered instanceof HttpResponse ? Effect.succeed(answered) : render(answered, owning),
    ).pipe(chargeTo(owning.owner.account.name));
  };

  const read = (owning: OwnerVisitor, answer: (visitor: OwnerVisitor) => Answer) =>
    readInPlace(places, askerOf(owning), answerOf(owning, answer));

  /** Counts a form against the account's limit of a day, unless the form changes only the sign-in. */
  const counted = (path: DashboardPath, visitor: OwnerVisitor, answer: (visitor: OwnerVisitor) => Answer) =>
    ofSignIn.has(path)
      ? asEffect(answer(visitor))
      : Effect.andThen(limits.admitDashboardWrite(visitor.owner.account.name), asEffect(answer(visitor)));

  return {
    routes,
    keylessAnswer,

    /** Makes the route of a page, whose handler gets the query. Users without a sign-in are redirected to it. */
    page: (path: DashboardPath, answer: (visitor: OwnerVisitor, query: Fields) => Answer) =>
      site.page(path, (visitor) =>
        Effect.flatMap(withOwner(path, visitor), (owning) =>
          read(owning, (owner) => answer(owner, queryOf(visitor))),
        ),
      ),

    /** Fails if the visitor is signed out, or has lost the role for a page or one of the lists, since the request began. */
    stillMay: (
      path: DashboardPath,
      { context, owner: { account } }: OwnerVisitor,
      pids: ReadonlyArray<Pid> = [],
    ) =>
      site.signInOf(context).pipe(
        // In another tab, the visitor may have chosen another account.
        Effect.flatMap((signIn) =>
          memberOf({ signIn: { ...signIn, account: account.name }, context }, roleOfPage(path)),
        ),
        Effect.filterOrFail(
          ({ owner }) => pids.every((pid) => reaches(owner, pid)),
          () => new Forbidden({ reason: "role" }),
        ),
      ),

    /**
     * Makes the route of the overview, where users arrive after they sign in. Users with several accounts or with an
     * invitation first choose an account, and moderators are redirected to the page of links.
     */
    start: (answer: (visitor: OwnerVisitor) => Answer) =>
      site.page(paths.overview, (visitor) =>
        // Moderators arrive here too, who may not read the overview.
        Effect.flatMap(withOwner(paths.links, visitor), (owning) => {
          const { accounts, invitations, signIn } = owning;
          const hasChosen = accounts.some(({ chosenAt }) => (chosenAt ?? 0) > signIn.createdAt);
          if (accounts.length + invitations.length > 1 && !hasChosen)
            return Effect.succeed(seeOther(paths.chooseAccount));
          return permits(owning, roleOfPage(paths.overview))
            ? read(owning, answer)
            : Effect.succeed(seeOther(paths.links));
        }),
      ),

    /** Makes the route of a form. Checks its field `csrf` before the handler runs, in a place of the account. */
    form: (path: DashboardPath, answer: (visitor: OwnerVisitor, fields: Fields) => Answer) =>
      site.upload(path, (arrived) => {
        const size = formSizes[sizeOfForm(path)];
        return Effect.flatMap(withOwner(path, arrived), (sender) =>
          site.answerForm(askerOf(sender), arrived.context, size, (visitor, fields) =>
            // The user may have lost the role while a slow form arrived.
            Effect.flatMap(withOwner(path, visitor), (owning) =>
              answerOf(owning, (owner) => counted(path, owner, (own) => answer(own, fieldsOf(fields)))),
            ),
          ),
        );
      }),

    /**
     * Makes the route of a form with a file. `receive` must read the form and check its field `csrf`, and returns what
     * answers it in a place of the account.
     */
    upload: (path: DashboardPath, receive: (visitor: OwnerVisitor) => Effect.Effect<Answer, SiteError>) =>
      site.upload(path, (visitor) =>
        Effect.flatMap(withOwner(path, visitor), (owning) => {
          const { name } = owning.owner.account;
          const received = Effect.andThen(limits.admitDashboardWrite(name), receive(owning)).pipe(
            Effect.catch((error) => Effect.succeed(Effect.fail(error))),
            chargeTo(name),
          );
          return Effect.flatMap(received, (answer) =>
            places.form(
              askerOf(owning),
              answerOf(owning, () => answer),
            ),
          );
        }),
      ),
  };
});

/** Whose place a request of the dashboard takes. */
export const askerOf = ({ owner, role }: SignedInMember): Asker => ({
  account: owner.account.name,
  person: owner.chatId,
  isFirst: role === "owner",
});

/** Tells a limit of the account, for pages and forms that do not show it themselves. */
const limitPage = (refused: Refused) =>
  Effect.succeed<Page>({ title: say("menu.account"), section: "account", refused, content: html`` });

/** The forms that leave or switch the account, so that the account's limit is no bar. */
const ofSignIn: ReadonlySet<string> = new Set([
  paths.chooseAccount,
  paths.declineInvitation,
  paths.endSignIn,
]);

/**
 * Returns a function that makes the routes of the forms on the page of a key or a webhook: what each does, and what
 * follows. If a form is refused, the page shows it with the reason.
 *
 * @param find finds the key or webhook of the path, or answers the form if the act is done
 */
export const makeActs =
  <Act extends string, Thing extends { readonly id: string }>(
    { form }: Pick<OwnerPages, "form">,
    pathOf: (id: Thing["id"] | ":id", act?: Act) => DashboardPath,
    find: (visitor: OwnerVisitor, act: Act) => Effect.Effect<Thing | HttpResponse, SiteError>,
    show: (visitor: OwnerVisitor, thing: Thing, refused: Refused, typed: Fields, act: Act) => Shown,
  ) =>
  /**
   * @param done the notice of the page, or another answer
   * @param others values that the form has in another form than the operation
   */
  <A>(
    act: Act,
    { submit }: { readonly submit: Submit<A> },
    done: NoticeName | ((result: A, visitor: OwnerVisitor) => NoticeName | HttpResponse | Page | Shown),
    others: (thing: Thing, fields: Fields) => Effect.Effect<RawValues, SiteError> = () => Effect.succeed({}),
  ) =>
    form(pathOf(":id", act), function* (visitor, fields) {
      const thing = yield* find(visitor, act);
      if (thing instanceof HttpResponse) return thing;
      const result = Effect.flatMap(others(thing, fields), (values) => submit(visitor, fields, values));
      const answered = Effect.flatMap(result, (made) => {
        const answer = typeof done === "string" ? done : done(made, visitor);
        if (Effect.isEffect(answer)) return answer;
        return Effect.succeed(
          typeof answer === "string" ? seeOther(pathOf(thing.id), { done: answer }) : answer,
        );
      });
      return yield* orShowAgain(answered, (refused) => show(visitor, thing, refused, fields, act));
    });

export const makeOwnerName = Effect.map(
  Profiles,
  (profiles) =>
    ({ chatId }: Pick<KeyOwner, "chatId">) =>
      Effect.map(profiles.chat(chatId, null), (profile) => visibleName(profile) ?? chatId),
);

/**
 * Returns a function that finds what people call an account: its own name, or an owner if the service made its name. It
 * returns null for an account that has neither.
 */
export const makeNamed = Effect.gen(function* () {
  const ownerName = yield* makeOwnerName;
  const members = yield* Members;

  return Effect.fnUntraced(function* ({ name, chatId, displayName }: Account) {
    if (displayName !== undefined || !isGenerated(name)) return { title: displayName ?? name };
    // A founder who has stepped down is no longer the account's chat user.
    const team = chatId === null ? yield* members.list(name) : [];
    const owner = chatId ?? team.find((member) => member.role === "owner" && hasAccepted(member))?.chatId;
    return owner === undefined ? null : { owner: yield* ownerName({ chatId: owner }) };
  });
});

const titleOf = (found: Effect.Success<ReturnType<Effect.Success<typeof makeNamed>>>): string | Html => {
  if (found === null) return say("frame.ownerless");
  return "title" in found ? found.title : say("frame.account_of", { owner: found.owner });
};

/** Returns a function that names an account: by an owner if the service made the account's name. */
export const makeAccountTitle = Effect.map(
  makeNamed,
  (named) => (account: Account) => Effect.map(named(account), titleOf),
);

/** The query of the page that a reader sees in another language, without the notice of the last action. */
const addressOf = ({ request }: Visitor["context"]): string => {
  const query = searchOf(request);
  query.delete("done");
  return `?${query}`;
};

export const namedGuilds = ({ signIn }: OwnerVisitor) =>
  (signIn.guilds ?? []).map(({ id, name }) => ({ guildId: id, name }));

/** Returns a function that lists the guilds of the signed-in user; null if the platform did not report the guilds. */
export const makeGuildChoice = Effect.map(
  Profiles,
  (profiles) =>
    ({ signIn }: OwnerVisitor) =>
      signIn.guilds === null
        ? Effect.succeed(null)
        : Effect.orElseSucceed(profiles.ownGuilds(signIn.guilds), () => null),
);

/**
 * Redirects the browser to a page after a form, so that a reload does not send the form again.
 *
 * @param query the query of the page; `done` names the notice that the page shows
 */
export const seeOther = (
  path: string,
  query: Readonly<Record<string, string | null>> & { readonly done?: NoticeName } = {},
): HttpResponse => redirectTo(303, withQuery(path, query));

/** Parses the number of a page of a list; 1 if it is none. */
export const pageNumber = (page: string): number => (/^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1);

/** Parses a cursor into a position in a log; null for the newest entries. */
export const positionOf = (cursor: string): number | null =>
  /^\d{1,15}$/.test(cursor) ? Number(cursor) : null;

const queryOf = ({ context: { query } }: Visitor): Fields =>
  fieldsFrom((name) => {
    const value = query[name];
    const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value];
    return values.filter((each) => typeof each === "string");
  });

/** The account that a signed-in user has chosen, the user's role in it, and all accounts and invitations of the user. */
export interface SignedInMember extends Pick<Membership, "role" | "scopes">, AccountsOfUser {
  readonly signIn: SiteSignIn;
  readonly owner: KeyOwner;
}

/** Finds the account of a sign-in. Fails if it is suspended, or the user is no member or lacks the role. */
export const makeMemberOf = Effect.map(Members, (members) =>
  Effect.fnUntraced(function* (
    { signIn, context }: { readonly signIn: SiteSignIn; readonly context: RequestContext },
    needed: Required<Route>["role"],
    subject?: unknown,
  ): Effect.fn.Return<SignedInMember, InvalidSession | Forbidden | StoreUnavailable> {
    const { accounts, invitations } = yield* members.accountsOf(signIn.chatId);
    const found = accounts.find(({ account }) => account.name === signIn.account);
    if (found === undefined) return yield* new InvalidSession();
    const { account, role, scopes } = found;
    if (account.status === "suspended") return yield* new Forbidden({ reason: "account_suspended" });
    const { chatId } = signIn;
    if (!mayUse(needed, found, subject, chatId)) return yield* new Forbidden({ reason: "role" });
    const owner = { account, chatId, requestId: context.requestId, scopes };
    return { signIn, owner, role, scopes, accounts, invitations };
  }),
);

/** Returns whether a member may use a route. With `owner_or_self`, the subject is the member in the route's path. */
export const mayUse = (
  needed: Required<Route>["role"],
  reader: Reader,
  subject: unknown,
  chatId: ChatId,
): boolean =>
  needed === "owner_or_self" ? permits(reader, "owner") || subject === chatId : permits(reader, needed);
