import type { Redacted } from "effect";
import type { PlatformEffect } from "../errors.ts";
import type { GuildId } from "../ids.ts";

/** The application that the operator registered at the chat platform. */
export interface ChatApplication {
  readonly id: string;
  /** The key of the platform's signatures for the application: Ed25519, in hexadecimal. */
  readonly publicKey: string;
}

/** The answer to a command. */
export interface ChatAnswer {
  readonly applicationId: string;
  /** Allows to edit the answer, and nothing else. It is never logged. */
  readonly token: Redacted.Redacted;
}

/** What the service needs of a chat platform whose users type commands. */
export interface ChatCommands {
  readonly application: PlatformEffect<ChatApplication>;

  /**
   * Replaces a message that answered a command. Returns false if the platform takes no more edits of this answer.
   *
   * @param message the message in the form of the platform's API
   */
  readonly editAnswer: (answer: ChatAnswer, message: object) => PlatformEffect<boolean>;

  /** Returns the URL where owners try the commands as a member. Undefined on platforms for real members. */
  readonly tryUrl?: (guildId: GuildId) => string;
}
