/** What a row of the test of neighbours says, and the values that rows share. */
import { type Attacker, largeGuild, type Site } from "./world.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface RouteRow {
  /** The status of its first answer. Later ones may be refusals by limits, or find the work done. */
  readonly answer: number;
  /** The parameters; parameters of the path by name. A function gets the attacker. */
  readonly values?: Values | ((attacker: Attacker) => Values);
  /** The key, if it is not the global one of the attacker. */
  readonly key?: keyof Attacker["keys"] | "spare";
  /** The browser, if it is not the one of the dashboard or of /me. */
  readonly site?: Site;
  /** The form's content type and body, for a form with a file. */
  readonly file?: (attacker: Attacker) => { readonly type: string; readonly body: Uint8Array };
  /** A JSON body that is a list. */
  readonly list?: ReadonlyArray<unknown>;
  /** What the chat platform sends, signed. */
  readonly signed?: object;
  /** The request after each, without which the next one would find its work done. */
  readonly again?: readonly [name: string, values: NonNullable<RouteRow["values"]>];
}

export const row = (
  answer: number,
  values?: RouteRow["values"],
  rest: Omit<RouteRow, "answer" | "values"> = {},
): RouteRow => ({ answer, ...(values && { values }), ...rest });

export const chatId = "100002";
export const [one, other] = [{ chatId }, { chatId: "300001", otherChatId: "300002" }];
export const review = { ...other, verdict: "different", note: "x".repeat(500) };
export const inOwn = ({ globalPid }: Attacker) => ({ pid: globalPid });
export const inPlan = ({ guildPid }: Attacker) => ({ pid: guildPid, guildId: largeGuild });
export const ofKey = ({ keyId }: Attacker) => ({ id: keyId });
export const ofWebhook = ({ webhookId }: Attacker) => ({ id: webhookId });
export const eventId = { eventId: "evt_00000000000000000000000000" };
export const withOwn = (values: Values) => (attacker: Attacker) => ({ ...inOwn(attacker), ...values });
export const withPlan = (values: Values) => (attacker: Attacker) => ({ ...inPlan(attacker), ...values });
export const withKey = (values: Values) => (attacker: Attacker) => ({ ...ofKey(attacker), ...values });
export const withWebhook = (values: Values) => (attacker: Attacker) => ({
  ...ofWebhook(attacker),
  ...values,
});
