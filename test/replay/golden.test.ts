import { describe, expect, it } from 'vitest';
import { acceptedDifferences } from './accepted-differences.js';
import { companions, kindOf, playerOf, playFile, vectorFiles } from './vector-files.js';

const folder = 'test/golden';
/** The other folders hold golden files of other kinds. */
const files = vectorFiles(folder, /^(?:schedule\/)?[^/]+\.json$/).filter((file) => !companions.has(file));

describe('recorded answers', () => {
  it.each(files)('%s', async (file) => {
    const player = await playerOf(kindOf(file));
    if (player === undefined) throw new Error(`test/replay/${kindOf(file)}.ts is missing`);
    const { played, different } = await playFile(folder, file, player);
    const accepted = acceptedDifferences[file] ?? {};
    expect(played).toBeGreaterThan(0);
    expect(different.filter(({ id }) => accepted[id] === undefined).slice(0, 10)).toEqual([]);
    expect(different.map(({ id }) => id).sort()).toEqual(Object.keys(accepted).sort());
  });
});
