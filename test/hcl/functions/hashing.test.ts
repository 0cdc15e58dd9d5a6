import { constants, generateKeyPairSync, publicEncrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { evaluateExpression } from '../../../src/hcl/evaluate/evaluate-expression.js';
import { bcryptHash } from '../../../src/hcl/functions/bcrypt.js';
import { stringValue } from '../../../src/hcl/values/value.js';
import { expectErrors, expectValues } from './evaluated.js';

describe('hashes', () => {
  expectValues([
    ['md5("")', '"d41d8cd98f00b204e9800998ecf8427e"'],
    ['sha1("a")', '"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"'],
    ['sha256("é")', '"4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"'],
    ['strlen(sha512("a"))', '128'],
    ['uuidv5("dns", "example.com")', '"cfbff0d1-9375-5685-968c-48ce8b15ae17"'],
    ['uuidv5("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "example.com")', '"cfbff0d1-9375-5685-968c-48ce8b15ae17"'],
    ['substr(bcrypt("x", 4), 0, 7)', '"$2a$04$"'],
    ['substr(bcrypt("x", 1), 0, 7)', '"$2a$10$"'],
  ]);
  expectErrors([
    'uuidv5("bogus", "a")',
    'bcrypt("x", 13)',
    'bcrypt("x", 4, 5)',
    'bcrypt(join("", [for i in range(73): "a"]), 4)',
    'rsadecrypt("?", "key")',
    'rsadecrypt("aGk=", "no key")',
  ]);

  it('bcrypt agrees with another implementation', () => {
    const salt = Uint8Array.from({ length: 16 }, (_, at) => at * 7 + 3);
    const hash = (password: string, cost: number) => bcryptHash(new TextEncoder().encode(password), salt, cost);
    expect(hash('a', 4)).toBe('$2a$04$.umPE/6kJRO5OijOTz3jZ.pfflLqyhIz.EiWz85/vZW5O01q/uwG2');
    expect(hash('hello wörld', 5)).toBe('$2a$05$.umPE/6kJRO5OijOTz3jZ.XNLi3M9qlQ8DEKNqKLlceFTsAaIsFVK');
    expect(hash('', 6)).toBe('$2a$06$.umPE/6kJRO5OijOTz3jZ.OHep26MbxPa8PT7o.eRq5A5TD6MGSYK');
  });

  it('rsadecrypt takes off the padding of PKCS #1 v1.5', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const ciphertext = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from('sécret'));
    const names = new Map([
      ['text', stringValue(ciphertext.toString('base64'))],
      ['key', stringValue(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())],
    ]);
    expect(evaluateExpression('rsadecrypt(text, key)', { names })._unsafeUnwrap().text).toBe('"sécret"');
  });
});

describe('random functions', () => {
  it('take new identifiers from the caller', () => {
    let made = 0;
    const ids = {
      next: () => {
        made += 1;
        return `id-${made}`;
      },
    };
    expect(evaluateExpression('[uuidv4(), uuidv4()]', { ids })._unsafeUnwrap().text).toBe('["id-1","id-2"]');
    const hashes = evaluateExpression('distinct([bcrypt("a", 4), bcrypt("a", 4)])', { ids })._unsafeUnwrap();
    expect(JSON.parse(hashes.text)).toHaveLength(2);
  });
});
