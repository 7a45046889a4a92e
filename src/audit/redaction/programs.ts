/** Programs with options that take a password although the option's name does not say so. */

/**
 * The place of an option's secret: the next word or the rest of the same word (`word`), only the next word (`next`),
 * only the rest (`rest`), the first or second word after the next one (`second`, `third`), the word after a name such
 * as `DB_URL` (`named`), or the part of the value after a separator, as in `ada:hunter2`.
 */
export type Takes = "word" | "next" | "rest" | "second" | "third" | "named" | ":" | "%" | "," | "=";

/** The options of some programs. */
export interface ProgramRule {
  readonly id: string;
  readonly programs: readonly string[];
  /** A word that must stand before the option, such as `login`. */
  readonly after?: string;
  /** The program runs another one: options after the first word that is not an option belong to that program. */
  readonly isWrapper?: true;
  /** Keyed by option. A key without a dash is a subcommand, such as `unlock`: its own word, and no beginning of one. */
  readonly options: Readonly<Record<string, Takes>>;
  /** Every word with `=` that is not an option holds a secret after it. */
  readonly hasAssignments?: true;
  readonly matches: readonly string[];
  readonly ignores: readonly string[];
}

const USER = { "-u": ":", "--user": ":", "-U": ":", "--proxy-user": ":" } as const;

export const PROGRAM_RULES: readonly ProgramRule[] = [
  {
    id: "mysql-password",
    programs: ["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mysqlshow", "mysqlcheck", "mysqlbinlog", "mysqlslap", "mysqlpump", "mysql_upgrade", "mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-show", "mariadb-check", "mariadb-binlog", "mycli"], // oxfmt-ignore
    options: { "-p": "rest" },
    matches: ["mysql -u root -phunter2 db", "mysqldump -p'hunter 2' db > x.sql"],
    ignores: ["mysql -p", "mysql -u root -p db", "mysql --port 3306", "mysql -p$PW"],
  },
  {
    id: "archive-password",
    programs: ["7z", "7za", "7zr", "7zz", "rar", "unrar"],
    options: { "-p": "rest", "-hp": "rest" },
    matches: ["7z a -phunter2 x.7z y", "rar a -hphunter2 x.rar y"],
    ignores: ["7z a x.7z -p y", "unrar x -p- x.rar"],
  },
  {
    id: "zip-password",
    programs: ["zip", "unzip"],
    options: { "-P": "word" },
    matches: ["zip -P hunter2 a.zip b", "unzip -qP hunter2 a.zip", "unzip -Phunter2 a.zip"],
    ignores: ["unzip -p a.zip b"],
  },
  {
    id: "ssh-password",
    programs: ["sshpass"],
    isWrapper: true,
    options: { "-p": "word" },
    matches: ["sshpass -p hunter2 ssh h", "sshpass -phunter2 ssh h"],
    ignores: ["sshpass -p $PW ssh h", "mkdir -p a", "sshpass -e ssh -p 22 h"],
  },
  {
    id: "putty-password",
    programs: ["plink", "pscp", "psftp", "putty", "nodetool", "mqtt"],
    options: { "-pw": "word" },
    matches: ["plink -ssh ada@h -pw hunter2", "mqtt pub -h x -u ada -pw hunter2 -t a"],
    ignores: ["plink -P 22 ada@h"],
  },
  {
    id: "login-password",
    programs: ["docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "cosign", "oras", "helm", "az", "oc", "cf", "twine", "argocd", "ibmcloud", "faas-cli", "poetry", "regctl"], // oxfmt-ignore
    after: "login|upload|auth|publish",
    options: { "-p": "word" },
    matches: ["docker login -p s3cr3t reg", "cosign login -p s3cr3t reg"],
    ignores: ["docker run -p 80:80 x", "docker compose -p login up", "podman ps"],
  },
  {
    id: "database-password",
    programs: ["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat", "cqlsh", "cypher-shell", "isql", "fbexport", "racadm"], // oxfmt-ignore
    options: { "-p": "word" },
    matches: ["mongosh -p s3cr3t", "cqlsh -u a -ps3cr3t h", "racadm -p s3cr3t r"],
    ignores: ["mongosh --port 1", "mongosh -p"],
  },
  {
    id: "redis-password",
    programs: ["redis-cli", "valkey-cli", "keydb-cli", "redis-benchmark", "valkey-benchmark", "memtier_benchmark"], // oxfmt-ignore
    options: { "-a": "word" },
    matches: ["redis-cli -h x -a s3cr3t"],
    ignores: ["redis-cli -p 6379"],
  },
  {
    id: "ldap-password",
    programs: ["ldapsearch", "ldapadd", "ldapmodify", "ldappasswd", "ldapdelete", "ldapwhoami", "ldapcompare", "ldapmodrdn", "dsconf", "dsidm", "vsql"], // oxfmt-ignore
    options: { "-w": "word" },
    matches: ["ldapsearch -x -w s3cr3t"],
    ignores: ["ldapsearch -W", "ldapsearch -s sub -x"],
  },
  {
    id: "sqlserver-password",
    programs: ["sqlcmd", "bcp", "osql", "tsql", "ipmitool", "knife"],
    options: { "-P": "word" },
    matches: ["sqlcmd -S h -P s3cr3t", "knife ssh '*' uptime -x ada -P s3cr3t"],
    ignores: ["sqlcmd -E"],
  },
  {
    id: "key-passphrase",
    programs: ["ssh-keygen"],
    options: { "-P": "word", "-N": "word" },
    matches: ["ssh-keygen -t ed25519 -N 'a b' -f k"],
    ignores: ["ssh-keygen -N '' -f k"],
  },
  {
    id: "snmp-password",
    programs: ["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"],
    options: { "-A": "word", "-X": "word", "-c": "word" },
    matches: ["snmpwalk -v3 -u a -A hunter22 h", "snmpget -v2c -c s3cr3t h"],
    ignores: ["snmpwalk -v3 -a SHA h"],
  },
  {
    id: "smb-password",
    programs: ["smbclient", "rpcclient", "smbget", "smbmap", "net", "wmic", "winexe", "wbinfo"],
    options: { "-U": "%", "--user": "%", "-a": "%" },
    matches: ["smbclient -U ada%hunter2 //h/s"],
    ignores: ["smbclient -U ada //h/s"],
  },
  {
    id: "remote-password",
    programs: ["xfreerdp", "rdesktop", "wlfreerdp"],
    options: { "-p": "word", "/p:": "rest" },
    matches: ["xfreerdp /u:ada /p:hunter2 /v:h"],
    ignores: ["xfreerdp /u:ada /v:h"],
  },
  {
    id: "lftp-user",
    programs: ["lftp"],
    options: { "-u": ",", "--user": "," },
    matches: ["lftp -u ada,hunter2 sftp://h"],
    ignores: ["lftp -u ada h"],
  },
  {
    id: "secret-body",
    programs: ["gh"],
    after: "secret",
    options: { "-b": "word", "--body": "word" },
    matches: ["gh secret set X_TOKEN --body hunter2"],
    ignores: ["gh pr create --body hello", "gh secret set X < file", "gh variable set X --body y"],
  },
  {
    id: "masked-variable",
    programs: ["glab"],
    after: "variable",
    options: { "-v": "word", "--value": "word", set: "second", create: "second", update: "second" },
    matches: ["glab variable set X --value hunter2", "glab variable set PLAN hunter2 --masked"],
    ignores: ["glab variable list", "glab variable get PLAN", "glab variable set PLAN < file"],
  },
  {
    id: "secret-value",
    programs: ["aws", "az"],
    after: "secretsmanager|put-parameter|secret",
    options: { "--value": "word", "--secret-string": "word" },
    matches: [
      "aws ssm put-parameter --name x --value hunter2",
      "az keyvault secret set --value abc",
    ],
    ignores: ["aws ssm put-parameter --value file://x", "az tag add --value x"],
  },
  {
    id: "package-key",
    programs: ["dotnet", "nuget", "doctl"],
    after: "push|init",
    options: { "-k": "word", "-ApiKey": "word", "-t": "word" },
    matches: ["dotnet nuget push x.nupkg -k hunter2", "doctl auth init -t hunter2"],
    ignores: ["dotnet build -k x", "doctl compute ssh x"],
  },
  {
    id: "user-password",
    programs: ["useradd", "usermod", "ncftp", "ncftpget", "ncftpput"],
    options: { "-p": "word" },
    matches: ["useradd -p '$6$salt$abcdef' ada", "ncftp -p hunter2 h"],
    ignores: ["useradd -m ada"],
  },
  {
    id: "cipher-password",
    programs: ["openssl"],
    after: "enc|aes-256-cbc|aes-128-cbc|des3",
    options: { "-k": "next", "-K": "next" },
    matches: ["openssl enc -aes-256-cbc -k hunter2 -in x"],
    ignores: [
      "openssl enc -aes-256-cbc -kfile pw.txt -in x",
      "openssl req -key server.key",
      "openssl s_client -connect h:443",
    ],
  },
  {
    id: "secret-assignment",
    programs: ["fly", "flyctl", "heroku", "railway", "doppler", "supabase", "vault", "bao", "nomad", "firebase", "travis"], // oxfmt-ignore
    after:
      "secrets|(?:[\\w:]+:)?config:(?:set|add)|config|variables|kv|var|encrypt|(?:secret|kv|cubbyhole)/.*",
    options: {},
    hasAssignments: true,
    matches: [
      "fly secrets set DATABASE=hunter2 -a app",
      "heroku config:set 'PLAN=open sesame' X=$Y",
      "railway variables --set PLAN=hunter2",
      "vault kv put secret/app plan=hunter2",
    ],
    ignores: ["fly deploy --build-arg X=1", "vault kv get secret/app", "heroku config -a app"],
  },
  {
    id: "access-token",
    programs: ["vercel", "netlify", "doctl", "codecov", "codecovcli", "influx", "anaconda"],
    options: { "-t": "next", "--auth": "word" },
    matches: [
      "vercel deploy --prod -t hunter2",
      "netlify deploy --auth hunter2",
      "codecov -t hunter2",
    ],
    ignores: [
      "influx -type flux",
      "vercel deploy --target production",
      "netlify deploy --dir build",
    ],
  },
  {
    id: "login-token",
    programs: ["glab", "wandb"],
    after: "auth|login",
    options: { "-t": "word", login: "word" },
    matches: ["glab auth login -t hunter2", "wandb login hunter2"],
    ignores: ["glab auth login --hostname h", "wandb sync x"],
  },
  {
    id: "runner-token",
    programs: ["gitlab-runner"],
    after: "register|verify|unregister",
    options: { "-r": "word", "-t": "word" },
    matches: ["gitlab-runner register -n -u https://h -r hunter2"],
    ignores: ["gitlab-runner run -c x", "gitlab-runner register -n -u https://h"],
  },
  {
    id: "analysis-token",
    programs: ["sonar-scanner", "mvn", "mvnw", "gradle", "gradlew"],
    options: { "-Dsonar.login": "word" },
    matches: ["sonar-scanner -Dsonar.login=hunter2", "./mvnw verify -Dsonar.login=hunter2"],
    ignores: ["sonar-scanner -Dsonar.login=$SONAR", "mvn verify -Dsonar.host.url=http://h"],
  },
  {
    id: "vault-password",
    programs: ["bw"],
    options: { unlock: "word", login: "second" },
    matches: ["bw unlock hunter2", "bw login ada@example.com hunter2 --raw"],
    ignores: ["bw unlock --passwordenv PW", "bw list items", "bw login ada@example.com"],
  },
  {
    id: "broker-password",
    programs: ["rabbitmqctl"],
    options: { add_user: "second", change_password: "second", authenticate_user: "second" },
    matches: ["rabbitmqctl add_user ada hunter2", "sudo rabbitmqctl change_password ada hunter2"],
    ignores: ["rabbitmqctl list_users", "rabbitmqctl set_user_tags ada administrator"],
  },
  {
    id: "new-password",
    programs: ["mysqladmin", "mariadb-admin"],
    options: { password: "word" },
    matches: ["mysqladmin password hunter2", "mysqladmin -u root -ps3cr3t password hunter2"],
    ignores: ["mysqladmin -u root ping"],
  },
  {
    id: "curl-user",
    programs: ["curl", "curlie"],
    options: { ...USER, "-E": ":", "--cert": ":", "--oauth2-bearer": "word", "-b": "=", "--cookie": "=" }, // oxfmt-ignore
    matches: [
      "curl -u ada:hunter2 https://x",
      'curl -s --user "ada:hunter2" x',
      "curl -H 'a; b' -uada:hunter2 x",
      "curl -b 'session=abc' x",
    ],
    ignores: ["curl -u ada https://x", "curl -u ada:$PW x", "curl http://a:80/b", "curl -b jar x"],
  },
  {
    id: "server-user",
    programs: ["etcdctl", "govc", "esxcli", "hey", "ab", "ttyd", "gotty", "nikto"],
    options: { "-u": ":", "--user": ":", "-a": ":", "-A": ":", "-c": ":", "-id": ":" },
    matches: [
      "etcdctl --user root:hunter2 get x",
      "nikto -h x -id ada:hunter2",
      "hey -a ada:hunter2 http://h",
    ],
    ignores: ["etcdctl get x", "ab -c 10 http://h:80/"],
  },
  {
    id: "http-user",
    programs: ["http", "https", "xh", "xhs"],
    options: { "-a": ":", "--auth": ":" },
    matches: ["http -a ada:hunter2 x"],
    ignores: ["http -a ada x", "https://a:80/b"],
  },
];
