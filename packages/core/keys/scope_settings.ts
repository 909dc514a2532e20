/** What the owner of a data scope says to its users. */
import { type DataScope, guildOf } from "../data_scope.ts";

/** What users read when they verify; null where the owner said nothing. */
export interface ScopeSettings {
  /** Who asks, in place of the name of the account. */
  readonly displayName: string | null;
  /** An https URL where users get help. */
  readonly supportUrl: string | null;
  /** What users should do once they are linked. */
  readonly doneText: string | null;
}

export const noSettings: ScopeSettings = { displayName: null, supportUrl: null, doneText: null };

/** A scope with what its owner set. */
export interface ConfiguredScope {
  readonly scope: DataScope;
  readonly settings: ScopeSettings;
}

/**
 * Global first, then by guild.
 *
 * @internal
 */
export const scopeOrder = ({ scope: one }: ConfiguredScope, { scope: other }: ConfiguredScope): number =>
  (guildOf(one) ?? "") < (guildOf(other) ?? "") ? -1 : 1;

/**
 * The settings of an update that differ from the stored ones; null if none does.
 *
 * @example
 * ```ts
 * changedSettings(noSettings, { displayName: "Makers", supportUrl: null }); // { displayName: "Makers" }
 * changedSettings(noSettings, { doneText: null }); // null
 * ```
 */
export const changedSettings = (
  settings: ScopeSettings,
  update: Partial<ScopeSettings>,
): Partial<ScopeSettings> | null => {
  const changed = Object.entries(update).filter(
    ([name, value]) => value !== undefined && value !== settings[name as keyof ScopeSettings],
  );
  return changed.length === 0 ? null : Object.fromEntries(changed);
};
