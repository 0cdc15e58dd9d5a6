import { err, ok, type Result } from 'neverthrow';
import type { CipherError } from '../../ports/cipher.js';
import type { StoredText, StoredVariable, VariableItems } from '../../variables/variable.js';
import type { EngineContext } from '../context/engine-context.js';

/** Items for storage: encrypted when the host gave a cipher. */
export function encryptItems(context: EngineContext, items: VariableItems): StoredText {
  const plain = JSON.stringify(items);
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The items in the clear. Fails when they were encrypted with a key that the host no longer provides. */
export function decryptItems(context: EngineContext, { items }: StoredVariable): Result<VariableItems, CipherError> {
  const opened: Result<string, CipherError> =
    'plain' in items ? ok(items.plain) : (context.cipher?.open(items.sealed) ?? noCipher());
  return opened.map((text) => JSON.parse(text) as VariableItems);
}

function noCipher(): Result<string, CipherError> {
  return err({ type: 'undecipherable', message: 'the variable is encrypted and no cipher is configured' });
}
