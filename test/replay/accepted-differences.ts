/**
 * Recorded answers that we do not give, by kind and id, each with its reason; docs/interfaces/differences.md tells users. The golden
 * tests fail when one of them is equal again.
 */
export const acceptedDifferences: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
