/** Checks the form of a webhook's URL. `WebhookSender` decides which addresses are allowed. */

import { isStorable } from "../storable_text.ts";

const longestUrl = 2_000;

/** Returns why a text cannot be the URL of a webhook; null if it can. */
export const webhookUrlProblem = (text: string): string | null => {
  if (Array.from(text).length > longestUrl) return `expected at most ${longestUrl} characters`;
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) || !isStorable(text) || !URL.canParse(text)) {
    return "expected an absolute https URL";
  }
  const { username, password, port } = new URL(text);
  if (username !== "" || password !== "") return "expected a URL without a user and a password";
  return port === "0" ? "expected a port from 1 to 65535" : null;
};
