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
