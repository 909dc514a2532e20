/** The routes of a site that users sign in to: sign-in, sign-out, and pages and forms for signed-in users. */
import { SignIns } from "@accountlink/core";
import { Forbidden, InvalidBody } from "@accountlink/core/errors";
import { SignInRefused, type SignInSite, type SiteSignIn } from "@accountlink/core/sign_ins";
import { type Asker, RequestPlaces, Turns } from "@accountlink/core/turns";
import {
  type BoundRoute,
  HttpResponse,
  HttpSettings,
  type RequestContext,
  searchOf,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { type Html, html, to } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageContext } from "../page_render.ts";
import {
  type Answering,
  asEffect,
  formSizes,
  isFetchedAhead,
  makePageHandler,
  notYet,
  readForm,
  redirectTo,
} from "../page_requests.ts";
import { said } from "../said.ts";
import { isSignInRefusal, publicOf, refusalPage, type SiteError } from "./refusals.ts";
import { dropKeptPages, isPageOf, keptPagesRoute, type Site, siteOf } from "./site.ts";

type Answer = Answering<Page | HttpResponse, SiteError>;
type SitePath = `/dashboard${string}` | `/me${string}`;

export interface Visitor {
  readonly context: PageContext;
  readonly signIn: SiteSignIn;
  /** The hidden `csrf` field for the forms of the page. */
  readonly csrf: string;
}

/** Makes the routes of a site. All except `keptPagesRoute` count requests against the limit of the client address. */
export const makeSiteRoutes = Effect.fnUntraced(function* (name: SignInSite) {
  const settings = yield* HttpSettings;
  const signIns = yield* SignIns;
  const places = yield* RequestPlaces;
  /** Equal forms of a person run one after the other, so that the second press of a button finds what the first did. */
  const presses = new Turns({ resource: "page_writes", share: 1 });
  const site = siteOf(name, settings.publicUrl);
  const callbackUri = `${settings.publicUrl}${site.path}/callback`;

  // Returns the URL to which users without a sign-in are redirected. A user who submitted a form is redirected to a
  // page with a link to the sign-in (`form=lost`). A direct redirect to the platform would be blocked, because browsers
  // also apply the policy `form-action` of the form's page to redirects.
  const toSignIn = (context: RequestContext) => {
    const { method, url } = context.request;
    if (method === "POST")
      return redirectTo(303, `${site.path}/sign-in?form=${endsSignIn.test(url) ? "ended" : "lost"}`);
    const response = redirectTo(303, `${site.path}/sign-in`);
    if (isPageOf(site, url)) return site.asked.write(response, url);
    return site.asked.read(context) === null ? response : site.asked.clear(response);
  };

  const { handle, ...handler } = yield* makePageHandler<SiteError>({
    publicOf,
    pageOf: (error, context) =>
      error._tag === "InvalidSession" ? toSignIn(context) : refusalPage(error, site),
  });

  const bind = (
    method: "GET" | "POST",
    path: SitePath,
    answer: (context: PageContext) => Answer,
  ): BoundRoute => ({ method, path, answer: handle(name, answer) });

  const signInOf = (context: PageContext) => signIns.find(name, site.session.read(context));

  const visitorOf = Effect.fnUntraced(function* (context: PageContext) {
    const signIn = yield* signInOf(context);
    return { context, signIn, csrf: yield* signIns.csrfToken(signIn) } satisfies Visitor;
  });

  const forVisitors =
    (method: "GET" | "POST") =>
    (path: SitePath, answer: (visitor: Visitor) => Answer): BoundRoute =>
      bind(method, path, (context) =>
        Effect.flatMap(places.find(visitorOf(context)), (visitor) => asEffect(answer(visitor))),
      );

  /** Makes the route of a page for signed-in users. Other users are redirected to the sign-in. */
  const page: ReturnType<typeof forVisitors> = (path, answer) =>
    forVisitors("GET")(path, (visitor) =>
      Effect.map(asEffect(answer(visitor)), (answered) =>
        answered instanceof HttpResponse ? answered : { ...answered, csrf: visitor.csrf },
      ),
    );

  type AnswerForm = (visitor: Visitor, fields: URLSearchParams) => Answer;

  /**
   * Reads the form of a request, and then checks its field `csrf` and answers it in a place of its sender.
   *
   * @param maxBytes how large the form may be
   */
  const answerForm = (sender: Asker, context: PageContext, maxBytes: number, answer: AnswerForm) =>
    Effect.flatMap(readSiteForm(context, maxBytes), (fields) =>
      presses.step(
        `${sender.account} ${sender.person} ${context.request.url}`,
        places.form(
          sender,
          // After the body, since the sign-in may end while a slow body arrives.
          Effect.flatMap(visitorOf(context), (visitor) =>
            fields.get("csrf") === visitor.csrf
              ? asEffect(answer(visitor, fields))
              : Effect.fail(new Forbidden({ reason: "csrf" })),
          ),
        ),
      ),
    );

  /** Makes the route of a form, and checks the form's field `csrf` before the handler runs. */
  const form = (path: SitePath, answer: AnswerForm): BoundRoute =>
    bind("POST", path, (context) =>
      Effect.flatMap(places.find(visitorOf(context)), ({ signIn }) =>
        answerForm({ account: signIn.chatId }, context, formSizes.ids, answer),
      ),
    );

  /** Makes the route of a form whose body the handler reads. The handler must check the field `csrf`. */
  const upload = forVisitors("POST");

  /** Each sign-in that the browser has begun: its state, followed by the page that was asked for before it, if any. */
  const begunOf = (context: PageContext) => site.begun.read(context)?.split(" ") ?? [];

  const begin = Effect.fnUntraced(function* (context: PageContext) {
    const { query } = context;
    const shown = query["form"];
    if (shown === "lost" || shown === "ended")
      return endedPage(site.path, shown, said(`sign_in.${shown}.text`));
    if (isSignInRefusal(shown)) return yield* new SignInRefused({ reason: shown });
    if (isFetchedAhead(context)) return notYet;
    const { url, state } = yield* signIns.begin(name, callbackUri, query["communities"] !== undefined);
    const asked = site.asked.read(context) ?? "";
    const newest = isPageOf(site, asked) ? state + asked : state;
    const begun = [newest, ...begunOf(context)].slice(0, mostBegun);
    while (begun.length > 1 && encodeURIComponent(begun.join(" ")).length > mostBegunLength) begun.pop();
    return site.begun.write(redirectTo(302, url), begun.join(" "));
  });

  const finish = Effect.fnUntraced(function* (context: PageContext) {
    if (isFetchedAhead(context)) return notYet;
    const callback = searchOf(context.request);
    const begun = begunOf(context).find((one) => stateOf(one) === callback.get("state")) ?? "";
    const state = stateOf(begun);
    const { cookie } = yield* signIns.finish({
      site: name,
      redirectUri: callbackUri,
      state: state || null,
      callback,
      cookie: site.session.read(context),
      userAgent: context.request.header("user-agent") ?? null,
    });
    const asked = begun.slice(state.length);
    const led = redirectTo(303, isPageOf(site, asked) ? asked : site.path);
    const response = site.asked.read(context) === asked ? site.asked.clear(led) : led;
    const left = begunOf(context).filter((one) => one !== begun);
    return site.session.write(
      left.length === 0 ? site.begun.clear(response) : site.begun.write(response, left.join(" ")),
      cookie,
    );
  });

  const signedOut = (response: HttpResponse): HttpResponse => site.session.clear(response);

  /** Ends this sign-in. If the form has the field `all`, ends all sign-ins of the user. */
  const signOut: AnswerForm = ({ signIn }, fields) =>
    Effect.as(
      signIns.end(signIn, fields.has("all") ? null : signIn.id),
      signedOut(redirectTo(303, `${site.path}/signed-out`)),
    );

  const routes: ReadonlyArray<BoundRoute> = [
    bind("GET", `${site.path}/sign-in`, (context) => places.visit(context.address, begin(context))),
    bind("GET", `${site.path}/callback`, (context) => places.visit(context.address, finish(context))),
    form(`${site.path}/sign-out`, signOut),
    bind("GET", `${site.path}/signed-out`, ({ query }) =>
      Effect.succeed(endedPage(site.path, query["deleted"] === undefined ? "ended" : "deleted")),
    ),
    keptPagesRoute(site),
  ];

  return { routes, page, form, upload, answerForm, signedOut, signInOf, ...handler };
});

/** Forms that end the sign-in. Sent again, by a double press or a reload, they may have done their work before. */
const endsSignIn = /\/(?:sign-out|erase|account\/delete|team\/remove)(?:\?|$)/;

/** How many sign-ins a browser can have begun, for example in the tabs that it opens again at its start. */
const mostBegun = 10;

/** How long the cookie of them can be: browsers store none of more than 4096 bytes with its name. */
const mostBegunLength = 4_000;

const stateOf = (begun: string): string => begun.split("/", 1)[0] ?? "";

/** The page after a sign-out, a deletion of the account, or for a form that was sent after the sign-in had ended. */
const endedPage = (
  path: Site["path"],
  name: "ended" | "lost" | "deleted",
  text: Html | null = null,
): Page => ({
  title: said(`sign_in.${name}.title`),
  content: html`
${name !== "lost" && dropKeptPages({ path })}
<h1>${said(`sign_in.${name}.title`)}</h1>
${text && html`<p>${text}</p>`}
<p><a class="button" href="${to(path)}/sign-in">${said("sign_in.again")}</a></p>`,
});

const readSiteForm = ({ request }: RequestContext, maxBytes: number) =>
  Effect.mapError(
    readForm(request, maxBytes),
    (cause) =>
      new InvalidBody({ problem: "too_large", reason: `the form is larger than ${maxBytes} bytes`, cause }),
  );
