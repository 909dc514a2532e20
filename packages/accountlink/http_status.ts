/** HTTP statuses of errors, for an HTTP interface of your own. */
import { statusOf } from "@accountlink/http";
import type { AccountLinkError } from "./errors.ts";

/**
 * Returns the HTTP status of the response that the service sends for an error. After a 503, a client can retry.
 *
 * @example
 * ```ts
 * import { type AccountLinkError, createAccountLink } from "accountlink";
 *
 * const al = await createAccountLink({ gameUserExists: () => true });
 * const answerTo = (call: Promise<unknown>) =>
 *   call.then(
 *     (link) => Response.json(link),
 *     (error: AccountLinkError) => new Response(error.message, { status: httpStatusOf(error) }),
 *   );
 * (await answerTo(al.links.delete("100001"))).status; // 404
 * await al.close();
 * (await answerTo(al.links.get("100001"))).status; // 503
 * ```
 */
export const httpStatusOf = (error: AccountLinkError): number => {
  switch (error.code) {
    case "CLOSED":
      return 503;
    case "UNREADABLE_LINK_FILE":
    case "WRONG_LINES":
      return 400;
    case "IMPORT_ENDED":
      return 409;
    default:
      return statusOf(error);
  }
};
