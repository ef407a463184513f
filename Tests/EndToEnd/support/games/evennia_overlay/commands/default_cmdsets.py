"""The game's own commands, beside those that Evennia has: a login that hides the password, and one that sends GMCP."""

from evennia import Command, default_cmds


class CmdEnter(Command):
    """enter <name>: asks for the password with the echo switched off."""

    key = "enter"
    locks = "cmd:all()"

    def func(self):
        self.caller.msg("Password:", options={"echo": False})
        password = yield ""
        self.caller.msg("Thank you.", options={"echo": True})
        self.caller.execute_cmd(f"connect {self.args.strip()} {password.strip()}")


class CmdWhence(Command):
    """whence: says where this session comes from, and by which client."""

    key = "whence"
    locks = "cmd:all()"

    def func(self):
        flags = self.session.protocol_flags
        size = flags.get("SCREENWIDTH"), flags.get("SCREENHEIGHT")
        self.msg(f"from {self.session.address} by {flags.get('CLIENTNAME')} in {flags.get('TERM')} of {size}")


class CmdVitals(Command):
    """vitals: what a game tells its client out of band."""

    key = "vitals"
    locks = "cmd:all()"

    def func(self):
        self.msg(char_vitals=((), {"hp": 17, "name": "Zoë"}))
        self.msg("You feel fine.")


class CmdAsk(Command):
    """ask: a prompt."""

    key = "ask"
    locks = "cmd:all()"

    def func(self):
        self.msg(prompt="What now? ")


class CharacterCmdSet(default_cmds.CharacterCmdSet):
    def at_cmdset_creation(self):
        super().at_cmdset_creation()
        for command in (CmdWhence, CmdVitals, CmdAsk):
            self.add(command())


class AccountCmdSet(default_cmds.AccountCmdSet):
    pass


class UnloggedinCmdSet(default_cmds.UnloggedinCmdSet):
    def at_cmdset_creation(self):
        super().at_cmdset_creation()
        self.add(CmdEnter())


class SessionCmdSet(default_cmds.SessionCmdSet):
    pass
