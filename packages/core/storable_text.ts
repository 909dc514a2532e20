/**
 * Text that every store can hold and give back as it was.
 */

/**
 * Whether the text has no NUL and no surrogate without its other half. A store is given no other; it refuses one as a
 * defect.
 *
 * @example
 * ```ts
 * isStorable("Ada 🎮"); // true
 * isStorable("\ud83c"); // false
 * ```
 */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
