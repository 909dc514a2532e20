/**
 * The channel that Node opens between a process and its child, with questions.
 */
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Questions } from "./messages.ts";

/** After this time a question counts as unanswered, in milliseconds. */
const answerTimeout = 1_000;

type Question = keyof Questions;
type Argument<Asked extends Question> = Questions[Asked]["argument"];
type Answer<Asked extends Question> = Questions[Asked]["answer"];

type Envelope<Message> =
  | { readonly type: "message"; readonly message: Message }
  | {
      readonly type: "question";
      readonly id: number;
      readonly question: Question;
      readonly argument: Argument<Question>;
    }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer<Question> | null };

/** The questions that an end answers. */
export type Answers<Asked extends Question> = {
  readonly [About in Asked]: (argument: Argument<About>) => Promise<Answer<About>> | Answer<About>;
};

/** What this end does with what the other one sends. */
interface Listener<Received, Asked extends Question> {
  readonly onMessage: (message: Received, socket: Socket | undefined) => void;
  readonly answers: Answers<Asked>;
}

/** One end of the channel. */
export class Channel<Sent, Received, Asked extends Question> {
  readonly #end: ChildProcess | NodeJS.Process;
  readonly #asked = new Map<number, (answer: Answer<Question> | null) => void>();
  #lastId = 0;

  /** @param end the child process, or a process that is one */
  constructor(end: ChildProcess | NodeJS.Process, { onMessage, answers }: Listener<Received, Asked>) {
    this.#end = end;
    const answerOf = answers as unknown as Record<string, (argument: unknown) => Answer<Question>>;
    end.on("message", (received: unknown, socket: unknown) => {
      const envelope = received as Envelope<Received>;
      if (envelope.type === "message") return onMessage(envelope.message, socket as Socket | undefined);
      if (envelope.type === "answer") return this.#settle(envelope.id, envelope.answer);
      void reply(envelope.id, answerOf[envelope.question]?.(envelope.argument) ?? null);
    });
    const reply = async (id: number, answer: Promise<Answer<Question>> | Answer<Question> | null) =>
      this.#send({ type: "answer", id, answer: await answer });
    end.once("disconnect", () => {
      for (const id of this.#asked.keys()) this.#settle(id, null);
    });
  }

  /** @param socket stays open on this side */
  tell(message: Sent, socket?: Socket): void {
    this.#send({ type: "message", message }, socket);
  }

  /** Gives null when the other end is gone or does not answer in time. */
  ask<About extends Question>(question: About, argument: Argument<About>): Promise<Answer<About> | null> {
    if (!this.#end.connected) return Promise.resolve(null);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(id, null), answerTimeout);
      this.#asked.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send({ type: "question", id, question, argument });
    });
  }

  #settle(id: number, answer: Answer<Question> | null): void {
    this.#asked.get(id)?.(answer);
    this.#asked.delete(id);
  }

  #send(envelope: Envelope<Sent>, socket?: Socket): void {
    // The other end's exit is noticed elsewhere.
    if (this.#end.connected) this.#end.send?.(envelope, socket, { keepOpen: true }, () => {});
  }
}
