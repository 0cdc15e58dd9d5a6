/** Whether the pattern, in which `*` stands for any characters, matches the whole name. Linear in the lengths' product, no backtracking blow-up. */
export function globMatches(pattern: string, name: string): boolean {
  let patternAt = 0;
  let nameAt = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (nameAt < name.length) {
    if (pattern[patternAt] === '*') {
      starAt = patternAt;
      resumeAt = nameAt;
      patternAt += 1;
    } else if (patternAt < pattern.length && pattern[patternAt] === name[nameAt]) {
      patternAt += 1;
      nameAt += 1;
    } else if (starAt >= 0) {
      patternAt = starAt + 1;
      resumeAt += 1;
      nameAt = resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[patternAt] === '*') patternAt += 1;
  return patternAt === pattern.length;
}

/**
 * The rule for a name: an exact name beats every glob; among the globs that match, the one that leaves the fewest
 * characters to its stars wins (ties: the first by text, so that the answer does not depend on order).
 */
export function closestRule<T>(rules: Readonly<Record<string, T>>, name: string): T | undefined {
  if (Object.hasOwn(rules, name)) return rules[name];
  let best: { readonly pattern: string; readonly distance: number; readonly rule: T } | undefined;
  for (const [pattern, rule] of Object.entries(rules)) {
    if (!pattern.includes('*') || !globMatches(pattern, name)) continue;
    const stars = pattern.split('*').length - 1;
    const distance = name.length - pattern.length + 2 * stars;
    if (best === undefined || distance < best.distance || (distance === best.distance && pattern < best.pattern)) {
      best = { pattern, distance, rule };
    }
  }
  return best?.rule;
}
