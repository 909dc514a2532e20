import type { PublicError } from "@accountlink/core";
import { type Forbidden, PlatformUnavailable } from "@accountlink/core/errors";
import { SignInRefused } from "@accountlink/core/sign_ins";
import { statusOf } from "@accountlink/http-api";
import { type Html, html, to } from "../html.ts";
import type { Page } from "../page.ts";
import { capitalised, inLanguage, platforms, said } from "../said.ts";
import type { Site } from "./site.ts";

export type SiteError = PublicError | SignInRefused;

/** Returns the error that logs and metrics report; null if a user caused it. */
export const publicOf = (error: SiteError): PublicError | null => {
  if (!(error instanceof SignInRefused)) return error;
  return error.cause instanceof PlatformUnavailable ? error.cause : null;
};

const messageOf = (error: SiteError) => {
  if (error instanceof SignInRefused) return `sign_in.${error.reason}` as const;
  switch (error._tag) {
    case "BadRequest":
      return error.problem === "not_found" ? "sign_in.not_found" : "sign_in.not_a_page";
    case "Forbidden":
      return error.reason === "csrf" ? "sign_in.forged" : "sign_in.forbidden";
    case "SharedIpRateLimited":
      return "refusal.too_many";
    case "RateLimited":
      return error.bucket === "day" ? "sign_in.downloads" : "refusal.too_many";
    case "PlatformUnavailable":
      return "sign_in.platform_down";
    case "StoreUnavailable":
      return "sign_in.down";
    case "InternalError":
      return "sign_in.defect";
    default:
      return "sign_in.refused";
  }
};

/** The messages with the titles, of which the pages of the flow have the most. */
const titles = {
  "sign_in.denied": "refusal.denied",
  "sign_in.invalid": "refusal.sign_in_invalid",
  "sign_in.platform_down": "refusal.platform_down",
  "sign_in.not_found": "refusal.nowhere",
  "sign_in.not_a_page": "sign_in.not_a_page",
  "sign_in.forged": "refusal.forged",
  "sign_in.forbidden": "sign_in.forbidden",
  "sign_in.downloads": "sign_in.downloads",
  "refusal.too_many": "refusal.too_many",
  "sign_in.down": "refusal.store_down",
  "sign_in.defect": "refusal.defect",
  "sign_in.refused": "sign_in.refused",
} as const satisfies Readonly<Record<ReturnType<typeof messageOf>, string>>;

const signInStatuses = { denied: 403, invalid: 400, platform_down: 503 } as const;

export const isSignInRefusal = (name: unknown): name is SignInRefused["reason"] =>
  typeof name === "string" && Object.hasOwn(signInStatuses, name);

/** Names the platform that does not answer, or else the one at which users sign in. */
const platformOf = (error: SiteError): Html => {
  const cause = error instanceof SignInRefused ? error.cause : error;
  return cause instanceof PlatformUnavailable && cause.platform === "game" ? platforms.game : platforms.chat;
};

/** What the English dashboard says of what a member may not do. */
const forbiddenText = ({ reason, message }: Forbidden): string =>
  `${message}. Nothing was changed.${reason === "role" ? " An owner of the account can change your role." : ""}`;

/** The English dashboard tells what core says about a refusal. */
const textOf = (error: SiteError, path: Site["path"]): Html =>
  inLanguage(({ tag }) => {
    const message = messageOf(error);
    const isExact = path === "/dashboard" && tag === "en" && !(error instanceof SignInRefused);
    if (isExact && message === "sign_in.refused") return html`${error.message}.`;
    if (isExact && error._tag === "Forbidden" && message === "sign_in.forbidden")
      return html`${forbiddenText(error)}`;
    const limit = error._tag === "RateLimited" ? error.limit : 0;
    return said(`${message}.text`, { limit, platform: platformOf(error) });
  });

export const refusalPage = (error: SiteError, { path }: Pick<Site, "path">): Page => {
  const title = capitalised(said(`${titles[messageOf(error)]}.title`, { platform: platformOf(error) }));
  const isSignIn = error instanceof SignInRefused;
  // A sign-in to a suspended account reads no page: another sign-in may be to another account of the user.
  const isSuspended = error._tag === "Forbidden" && error.reason === "account_suspended";
  const [target, label] =
    isSignIn || isSuspended
      ? ([`${path}/sign-in`, "sign_in.again"] as const)
      : ([path, "sign_in.start"] as const);
  return {
    status: isSignIn ? signInStatuses[error.reason] : statusOf(error),
    title,
    // The path itself would lead a reader without a sign-in to the chat platform.
    address: isSignIn ? `${path}/sign-in?form=${error.reason}` : path,
    content: html`
<h1>${title}</h1>
<p>${textOf(error, path)}</p>
<p><a class="button" href="${to(target)}">${said(label)}</a></p>`,
  };
};
