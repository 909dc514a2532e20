/** How many reads of the dashboard one account has in work at a time. */
import { TurnAccount, Turns } from "@accountlink/core/turns";
import { HttpResponse } from "@accountlink/http/for_pages";
import { Context, Effect, Stream } from "effect";

const mostReads = 4;

/** Runs up to four reads of an account at a time. A file that is downloaded counts as one until its last byte. */
export class DashboardReads extends Context.Service<DashboardReads>()("@accountlink/pages/DashboardReads", {
  make: Effect.sync(() => {
    const turns = new Turns({
      resource: "dashboard_reads",
      places: Number.POSITIVE_INFINITY,
      most: mostReads,
    });

    const inTurn = (account: string, answered: HttpResponse): HttpResponse => {
      const { status, headers, body } = answered;
      if (body === null || typeof body === "string" || body instanceof Uint8Array) return answered;
      const chunks = Stream.unwrap(Effect.as(turns.take(account), body.chunks)).pipe(
        Stream.provideService(TurnAccount, account),
      );
      return new HttpResponse(status, headers, { ...body, chunks });
    };

    return {
      /** Answers a read of an account in its turn. */
      answer: <A, E, R>(account: string, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.map(turns.step(account, read), (answered) =>
          answered instanceof HttpResponse ? (inTurn(account, answered) as A) : answered,
        ),
    };
  }),
}) {}
