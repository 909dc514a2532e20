import { type DataScope, guildOf } from "../data_scope.ts";

/** Texts that a scope's owner shows to users who verify. Each is null if the owner has not set it. */
export interface ScopeSettings {
  /** The community's name, shown instead of the account's name. */
  readonly displayName: string | null;
  /** An https URL where users get help. */
  readonly supportUrl: string | null;
  /** Instructions for users after linking. */
  readonly doneText: string | null;
}

/** @internal */
export const noSettings: ScopeSettings = { displayName: null, supportUrl: null, doneText: null };

export interface ConfiguredScope {
  readonly scope: DataScope;
  readonly settings: ScopeSettings;
}

/** Sorts the global scope first, then scopes by guild. @internal */
export const scopeOrder = ({ scope: one }: ConfiguredScope, { scope: other }: ConfiguredScope): number =>
  (guildOf(one) ?? "") < (guildOf(other) ?? "") ? -1 : 1;

/** Returns the settings of an update that differ from the stored settings; null if none differs. @internal */
export const changedSettings = (
  settings: ScopeSettings,
  update: Partial<ScopeSettings>,
): Partial<ScopeSettings> | null => {
  const changed = Object.entries(update).filter(
    ([name, value]) => value !== undefined && value !== settings[name as keyof ScopeSettings],
  );
  return changed.length === 0 ? null : Object.fromEntries(changed);
};
