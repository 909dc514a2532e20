/** How many requests to the pages one account, or one user of /me, has in work at a time. */
import type { ClientAddress } from "@accountlink/core/addresses";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import {
  accountsPart,
  noteRequest,
  restSince,
  TurnAccount,
  Turns,
  TurnVisitor,
} from "@accountlink/core/turns";
import { HttpResponse } from "@accountlink/http/for_pages";
import { Context, Effect, Fiber, Option, Stream } from "effect";

/** Of the writes, three may be tests of webhooks, which wait for other servers; one place is left for the rest. */
const mostAtOnce = 4;

/** The requests of one client address, which a school or a carrier may share. */
const mostOfAddress = 8;

/** The part of the time for all visitors without an account together, while the process is busy. */
const visitorsPart = 0.4;

/** How long a body may take in its account's turn, in milliseconds. A slower one waits outside. */
const bodyTime = 250;

/** The longest pause after a page of a file, in milliseconds. */
const longestPause = 50;

/**
 * Runs up to four reads of an account at a time, and four writes, which includes reading their forms. A file that is
 * downloaded counts as a read until its last byte. On /me, each user is an account.
 */
export class PageTurns extends Context.Service<PageTurns>()("@accountlink/pages/PageTurns", {
  make: Effect.sync(() => {
    const ofAccounts = { most: mostAtOnce, workingPart: accountsPart };
    const reads = new Turns({ resource: "page_reads", ...ofAccounts });
    const writes = new Turns({ resource: "page_writes", ...ofAccounts });
    const visits = new Turns({ resource: "page_visits", most: mostOfAddress, workingPart: visitorsPart });
    const pages = new Turns({ resource: "exports", places: 1 });

    /**
     * Reads a file page by page, each in the account's turn. Each page is followed by a pause as long as it took, so that
     * files take half of the process at most.
     */
    const pageByPage = (account: string, chunks: Stream.Stream<Uint8Array>): Stream.Stream<Uint8Array> =>
      Stream.unwrap(
        Effect.map(Stream.toPull(chunks), (pull) => {
          const page = Effect.gen(function* () {
            const began = yield* monotonicMillis;
            const read = yield* pull;
            yield* restSince(began, longestPause);
            return read;
          });
          return Stream.fromPull(Effect.succeed(pages.step(account, page)));
        }),
      );

    const inTurn = (account: string, answered: HttpResponse): HttpResponse => {
      const { status, headers, body } = answered;
      if (body === null || typeof body === "string" || body instanceof Uint8Array) return answered;
      const chunks = Stream.unwrap(Effect.as(reads.take(account), pageByPage(account, body.chunks))).pipe(
        Stream.provideService(TurnAccount, account),
      );
      return new HttpResponse(status, headers, { ...body, chunks });
    };

    return {
      /** Answers a request without a sign-in in the turn of its client address, if the address is known. */
      visit: <A, E, R>(
        address: ClientAddress | null,
        answer: Effect.Effect<A, E, R>,
      ): Effect.Effect<A, E, R> => (address === null ? answer : stepOf(visits, address.countedAs, answer)),

      /** Answers a write of an account in its turn. */
      write: <A, E, R>(account: string, write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        stepOf(writes, account, write),

      /**
       * Reads the body of a write, and answers the write, in the account's turn. While a slow body arrives, the place is
       * free for the account's other writes.
       */
      writeWith: Effect.fnUntraced(function* <B, A, E, R>(
        account: string,
        read: Effect.Effect<B, E, R>,
        answer: (body: B) => Effect.Effect<A, E, R>,
      ) {
        const begin = Effect.gen(function* () {
          const reading = yield* Effect.forkChild(read, { startImmediately: true });
          const ended = yield* Effect.timeoutOption(Fiber.await(reading), bodyTime);
          if (Option.isNone(ended)) return { reading };
          return { answered: yield* answer(yield* Fiber.join(reading)) };
        });
        const begun = yield* stepOf(writes, account, begin);
        if ("answered" in begun) return begun.answered;
        const body = yield* Fiber.join(begun.reading);
        return yield* stepOf(writes, account, answer(body));
      }),

      /** Answers a read of an account in its turn. */
      read: <A, E, R>(account: string, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.map(stepOf(reads, account, read), (answered) =>
          answered instanceof HttpResponse ? (inTurn(account, answered) as A) : answered,
        ),
    };
  }),
}) {}

/** Runs a step of an account, a user or an address, which takes its turns at what the step uses as well. */
const stepOf = <A, E, R>(turns: Turns, owner: string, step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.andThen(noteRequest(owner), turns.step(owner, Effect.provideService(step, TurnVisitor, owner)));
