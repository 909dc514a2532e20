/** How webhooks are, as it is read without opening stores. */

export interface WebhookCounts {
  readonly all: number;
  /** How many were disabled because their receiver did not answer. */
  readonly disabled: number;
  /** Since when the one that fails longest does; null if none fails. */
  readonly failingSince: number | null;
}

export const countingWebhooks = `
  SELECT COUNT(*) AS made,
    COUNT(*) FILTER (WHERE status = 'disabled') AS disabled,
    MIN(failing_since) FILTER (WHERE status = 'active') AS failing_since
  FROM webhooks`;

/** @param row what `countingWebhooks` finds; undefined without the table */
export const webhookCounts = (row: Readonly<Record<string, unknown>> | undefined): WebhookCounts => {
  const since = row?.["failing_since"] ?? null;
  return {
    all: Number(row?.["made"] ?? 0),
    disabled: Number(row?.["disabled"] ?? 0),
    failingSince: since === null ? null : Number(since),
  };
};
