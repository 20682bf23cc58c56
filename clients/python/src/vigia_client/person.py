"""How a person is named without sending the CPF."""

import hashlib
import re


def user_hash(cpf: str, salt: str) -> str:
    """The userHash of a person: BLAKE2b-512 of the digits of the CPF and the partner's salt, in lower-case hex.

    Dots, dash and spaces in the CPF are skipped; its check digits are not looked at. Keep the salt secret: with it, a
    hash can be turned back into its CPF by trying them all.
    """
    digits = re.sub(r"[^0-9]", "", cpf)
    return hashlib.blake2b((digits + salt).encode("utf-8")).hexdigest()
