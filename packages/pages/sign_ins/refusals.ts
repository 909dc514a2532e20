import type { PublicError } from "@accountlink/core";
import { PlatformUnavailable } from "@accountlink/core/errors";
import { SignInRefused } from "@accountlink/core/sign_ins";
import { statusOf } from "@accountlink/http-api";
import { html } from "../html.ts";
import type { Page } from "../page.ts";
import type { Site } from "./site.ts";

export type SiteError = PublicError | SignInRefused;

/** Returns the error that logs and metrics report; null if a user caused it. */
export const publicOf = (error: SiteError): PublicError | null => {
  if (!(error instanceof SignInRefused)) return error;
  return error.cause instanceof PlatformUnavailable ? error.cause : null;
};

interface SignInPage {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const signInRefusals: Readonly<Record<SignInRefused["reason"], SignInPage>> = {
  denied: {
    status: 403,
    title: "You did not sign in",
    text: "You did not allow the platform to tell us who you are. You can try again or close this page.",
  },
  invalid: {
    status: 400,
    title: "This sign-in cannot be used",
    text: "It was already used, is too old, was started in another browser or tab, or was refused by the platform.",
  },
  platform_down: {
    status: 503,
    title: "The platform does not answer",
    text: "We could not check who you are. Wait a moment and try again.",
  },
};

const refusalOf = (error: SiteError): SignInPage => {
  if (error instanceof SignInRefused) return signInRefusals[error.reason];
  const status = statusOf(error);
  switch (error._tag) {
    case "BadRequest":
      return error.problem === "not_found"
        ? { status, title: "There is no such page", text: "Check that the address is complete." }
        : { status, title: "This address cannot be used", text: "This address is not a page." };
    case "Forbidden":
      return error.reason === "csrf"
        ? {
            status,
            title: "This form cannot be used",
            text: "It does not come from a page in this browser. Nothing was changed.",
          }
        : {
            status,
            title: "You may not do this",
            text: `${error.message}. Nothing was changed.${error.reason === "role" ? " An owner of the account can change your role." : ""}`,
          };
    case "SharedIpRateLimited":
      return {
        status,
        title: "Too many requests",
        text: "There were very many requests from your network. Wait a while and try again.",
      };
    case "RateLimited":
      return {
        status,
        title: "Enough downloads for today",
        text: `You can download your data ${error.limit} times a day. Try again tomorrow.`,
      };
    case "PlatformUnavailable":
      return { status, title: "The platform does not answer", text: "Wait a moment and try again." };
    case "StoreUnavailable":
      return { status, title: "This does not work right now", text: "Wait a moment and try again." };
    case "InternalError":
      return {
        status,
        title: "Something went wrong here",
        text: "This is our mistake, and it was logged.",
      };
    default:
      return { status, title: "This cannot be done", text: `${error.message}.` };
  }
};

export const refusalPage = (error: SiteError, { path }: Pick<Site, "path">): Page => {
  const { status, title, text } = refusalOf(error);
  const isSignIn = error instanceof SignInRefused;
  const [target, label] = isSignIn ? [`${path}/sign-in`, "Sign in again"] : [path, "Back to the start"];
  return {
    status,
    title,
    content: html`
<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="${target}">${label}</a></p>`,
  };
};
