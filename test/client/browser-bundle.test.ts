import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('bundles for browsers: no Node module, and small', async () => {
  const bundle = await build({
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
  });
  const packages = Object.keys(bundle.metafile.inputs).filter((path) => path.includes('node_modules'));
  expect(
    packages.filter((path) => !path.includes('/neverthrow/') && !path.startsWith('node_modules/neverthrow')),
  ).toEqual([]);
  expect(Object.keys(bundle.metafile.inputs).filter((path) => /^(src\/operations|adapters)\//.test(path))).toEqual([]);
  const [file] = bundle.outputFiles;
  // With the whole table of the interface; printed so that its growth is seen.
  const kilobytes = gzipSync(file?.contents ?? '').length / 1024;
  console.log(`signalbox/client for browsers: ${kilobytes.toFixed(1)} KB gzipped`);
  expect(kilobytes).toBeLessThan(40);
});
