import { Context } from "effect";

export interface ChatSettingsShape {
  /** Whether the service answers commands. */
  readonly isOn: boolean;
  /** The public key of the application at the chat platform, in hexadecimal. Null asks the platform for the key. */
  readonly publicKey: string | null;
  /** How many commands a user may send in a minute; 0 means no limit. */
  readonly commandsPerMinute: number;
}

/**
 * How the service answers commands that users type in chat.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * Effect.runSync(ChatSettings).commandsPerMinute; // 20
 * ```
 */
export const ChatSettings = Context.Reference<ChatSettingsShape>("@accountlink/pages/ChatSettings", {
  defaultValue: () => ({ isOn: true, publicKey: null, commandsPerMinute: 20 }),
});
