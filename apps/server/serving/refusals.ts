/**
 * Requests that are refused before routing.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { PublicError } from "@accountlink/core";
import { type HttpApp, refuseWhere } from "@accountlink/http";
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest";

/** Why a request is refused; null for one to serve. It is called once for each request. */
export type RefusalOf = (request: IncomingMessage, response: ServerResponse) => PublicError | null;

/** The refusals of a server, found before its other listeners see a request. */
export class Refusals {
  readonly #refused = new WeakMap<IncomingMessage, PublicError>();

  constructor(node: Server, ...reasons: ReadonlyArray<RefusalOf>) {
    for (const event of ["request", "checkContinue"]) {
      node.on(event, (request: IncomingMessage, response: ServerResponse) => {
        for (const refusalOf of reasons) {
          const refusal = refusalOf(request, response);
          if (refusal !== null) return void this.#refused.set(request, refusal);
        }
      });
    }
  }

  readonly isRefused = (request: IncomingMessage): boolean => this.#refused.has(request);

  /** Answers refused requests in the words of the application. */
  readonly refuse = (app: HttpApp): HttpApp =>
    refuseWhere(app, (request) => this.#refused.get(toIncomingMessage(request) as IncomingMessage) ?? null);
}
