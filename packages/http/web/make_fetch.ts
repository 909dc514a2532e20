import { MalformedRequest } from "@accountlink/core/errors";
import { Cause, type Context, Effect, Exit, type Fiber, FiberSet, Latch, Stream } from "effect";
import { type HttpApp, type HttpResponse, isStream } from "../http_app.ts";
import { makeRun } from "../run_requests.ts";
import { toWebHead, toWebResponse, WebRequest } from "./web_request.ts";

/** Answers a request. Aborting its signal stops the work. */
export type Fetch = (
  request: Request,
  info?: { readonly clientAddress?: string | undefined },
) => Promise<Response>;

/**
 * @param running the fibers of requests, which are interrupted when the handler closes
 * @param context the services that the application requires
 */
export const makeFetch = (
  app: HttpApp,
  requests: OpenRequests,
  running: FiberSet.FiberSet,
  context: Context.Context<never>,
): Fetch => {
  const run = makeRun(context);

  const responseTo = (request: Request, exit: Exit.Exit<HttpResponse>): Response => {
    if (Exit.isFailure(exit)) {
      const status = request.signal.aborted ? clientClosedRequest : 503;
      if (Cause.hasInterruptsOnly(exit.cause)) return new Response(null, { status });
      throw Cause.squash(exit.cause);
    }
    const response = exit.value;
    const { body } = response;
    if (request.method === "HEAD") {
      if (isStream(body)) run(body.release);
      return toWebHead(response);
    }
    if (!isStream(body)) return toWebResponse(response, body);
    const ending = Effect.ensuring(body.release, Effect.sync(requests.begin()));
    const chunks = Stream.ensuring(body.chunks, ending);
    return toWebResponse(response, Stream.toReadableStreamWith(chunks, context, { signal: request.signal }));
  };

  return async (request, info) => {
    let isLate = false;
    const asked = new WebRequest(request, info?.clientAddress, () => {
      isLate = true;
      fiber.interruptUnsafe();
    });
    const fiber = run(app.answer(asked));
    const exit = fiber.pollUnsafe();
    if (exit !== undefined) return responseTo(request, exit);
    const end = requests.begin();
    FiberSet.addUnsafe(running, fiber);
    try {
      const ended = await exitOf(fiber, request.signal);
      if (!isLate) return responseTo(request, ended);
      const refused = run(app.refuse(asked, new MalformedRequest({ problem: "timeout" })));
      return responseTo(request, await exitOf(refused, request.signal));
    } finally {
      end();
    }
  };
};

/** The conventional status for a client that disconnected before its response. */
const clientClosedRequest = 499;

const exitOf = async (
  fiber: Fiber.Fiber<HttpResponse>,
  signal: AbortSignal,
): Promise<Exit.Exit<HttpResponse>> => {
  const interrupt = () => fiber.interruptUnsafe();
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt, { once: true });
  const exit = await new Promise<Exit.Exit<HttpResponse>>((resolve) => void fiber.addObserver(resolve));
  signal.removeEventListener("abort", interrupt);
  return exit;
};

/** Counts the requests whose responses have not ended, so that a handler can wait for them before it closes. */
export class OpenRequests {
  #count = 0;
  readonly #none = Latch.makeUnsafe(true);

  readonly ended = this.#none.await;

  /** Counts a request until the returned function is called. */
  begin(): () => void {
    if (this.#count++ === 0) this.#none.closeUnsafe();
    return () => {
      if (--this.#count === 0) this.#none.openUnsafe();
    };
  }
}
