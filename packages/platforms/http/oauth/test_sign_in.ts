/** For tests: a sign-in, and the query with which the platform sends the browser back. */
import type { SignIn } from "@accountlink/core/platforms";

export const signIn: SignIn = {
  redirectUri: "https://link.example/verify/callback",
  state: "state-of-this-browser",
  codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  nonce: "nonce-of-this-browser",
  guildId: null,
};

export const callback = new URLSearchParams({ code: "code-1", state: signIn.state });
