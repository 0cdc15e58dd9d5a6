import { register } from 'node:module';

if (process.env['SIGNALBOX_TEST_MODULES'] !== undefined) {
  process.setSourceMapsEnabled(true);
  register('./hooks.mjs', import.meta.url);
}
